/**
 * The platform's end of the relay over the link: bytes out of a sandbox by streamed answers, bytes into it by requests.
 *
 * Both are counted, and a request that broke off is sent again with the same first byte: the sandbox skips what it has.
 */
import { joinBytes } from '../../contracts/relay/frame.ts';
import { relayBatchBytesMax } from '../../domain/relay/limits.ts';
import type { LiveSandbox } from '../../domain/sandbox.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { LinkRequest, SandboxLink } from '../../ports/sandbox.ts';
import type { Deps } from '../deps.ts';

export type RelayExchange = {
  /** Takes a frame for the sandbox; it leaves with the next request. */
  readonly push: (bytes: Uint8Array) => void;
  /** One answer to its end. `cut`: it began and broke off. `over`: the sandbox needs no holder, or has another one. */
  readonly readSlice: (onBytes: (bytes: Uint8Array) => void) => Promise<SliceEnd>;
  /** Resolves when everything that was pushed has arrived; throws when it cannot. */
  readonly flush: () => Promise<void>;
  /** Bytes for the sandbox are lost: nothing after them may arrive. */
  readonly isBroken: () => boolean;
};

export type SliceEnd = 'next' | 'cut' | 'over' | 'failed';

type Claim = {
  readonly holder: string;
  readonly replaces?: string | undefined;
  readonly idleSeconds: number;
};

const triesMax = 8;
const pauseMs = 100;
const pauseMsMax = 1500;
const okStatus = 200;
const conflictStatus = 409;
/** It no longer needs a holder, or has another one. */
const overStatuses = [204, conflictStatus];
/** A sandbox is told that bytes have come after so many of them, even if nothing goes in. */
const acknowledgeBytes = 262_144;

/** False when another holder has it. */
export const claimRelay = async (
  { link }: Deps<'link'>,
  sandbox: LiveSandbox,
  claim: Claim,
): Promise<boolean> => {
  const response = await link.fetch(sandbox, {
    method: 'POST',
    path: '/relay/hold',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(claim),
  });
  await response.body?.cancel();
  if (response.ok) return true;
  if (response.status === conflictStatus) return false;
  throw new AppError('sandbox_unavailable', `the relay cannot be held: ${response.status}`);
};

/** A sandbox that does not hear of it notices the silence. */
export const releaseRelay = async (
  { link }: Deps<'link'>,
  sandbox: LiveSandbox,
  holder: string,
): Promise<void> => {
  const path = `/relay/release?holder=${holder}`;
  const response = await link.fetch(sandbox, { method: 'POST', path });
  await response.body?.cancel();
};

export const openRelayExchange = (
  { link, world }: Deps<'link' | 'world'>,
  { sandbox, holder }: { readonly sandbox: LiveSandbox; readonly holder: string },
): RelayExchange => {
  let queue: Uint8Array[] = [];
  let sent = 0;
  let received = 0;
  let acknowledged = 0;
  let sending: Promise<void> | undefined;
  let isBroken = false;

  /** False when it may be sent again. */
  const tryPost = async (body: Uint8Array): Promise<boolean> => {
    const ack = received;
    const path = `/relay/downstream?holder=${holder}&offset=${sent}&ack=${ack}`;
    const response = await answerTo(link, sandbox, { method: 'POST', path, body });
    await response?.body?.cancel();
    if (response === undefined || response.status >= 500) return false;
    if (!response.ok) throw refused(response.status);
    sent += body.length;
    acknowledged = ack;
    return true;
  };
  const post = async (body: Uint8Array): Promise<void> => {
    for (let attempt = 1; !(await tryPost(body)); attempt += 1) {
      if (attempt === triesMax) throw broken();
      await world.sleep(Math.min(pauseMsMax, pauseMs * 2 ** attempt));
    }
  };
  const sendAll = async (): Promise<void> => {
    while (queue.length > 0 || received - acknowledged > acknowledgeBytes) {
      const batch = takeBatch(queue);
      queue = queue.slice(batch.length);
      await post(
        joinBytes(
          batch,
          batch.reduce((sum, { length }) => sum + length, 0),
        ),
      );
    }
  };
  /** One request at a time: those that come in between wait, and leave together. */
  const send = (): Promise<void> => {
    if (isBroken) return Promise.reject(broken());
    sending ??= sendAll()
      .catch((error: unknown) => {
        isBroken = true;
        throw error;
      })
      .finally(() => {
        sending = undefined;
      });
    return sending;
  };
  const inBackground = (): void => void send().catch(() => undefined);
  return {
    push(bytes) {
      queue.push(bytes);
      // The frames of this moment leave together.
      queueMicrotask(inBackground);
    },
    flush: send,
    isBroken: () => isBroken,
    async readSlice(onBytes) {
      const path = `/relay/upstream?holder=${holder}&after=${received}`;
      const response = await answerTo(link, sandbox, { method: 'GET', path });
      if (response?.status !== okStatus || response.body === null) {
        await response?.body?.cancel();
        return response !== undefined && overStatuses.includes(response.status) ? 'over' : 'failed';
      }
      const whole = await readBytes(response.body, (bytes) => {
        received += bytes.length;
        onBytes(bytes);
        if (received - acknowledged > acknowledgeBytes) inBackground();
      });
      return whole ? 'next' : 'cut';
    },
  };
};

/** Undefined when the sandbox was not reached. */
const answerTo = async (
  link: SandboxLink,
  sandbox: LiveSandbox,
  request: LinkRequest,
): Promise<Response | undefined> => {
  try {
    return await link.fetch(sandbox, request);
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return undefined;
    throw error;
  }
};

/** False when the stream broke off; throws an error of `onBytes`. */
const readBytes = async (
  body: ReadableStream<Uint8Array>,
  onBytes: (bytes: Uint8Array) => void,
): Promise<boolean> => {
  try {
    for await (const bytes of body) onBytes(bytes);
    return true;
  } catch (error) {
    if (isAppError(error)) throw error;
    return false;
  }
};

const takeBatch = (queue: readonly Uint8Array[]): readonly Uint8Array[] => {
  const batch: Uint8Array[] = [];
  let bytes = 0;
  for (const piece of queue) {
    if (bytes + piece.length > relayBatchBytesMax && batch.length > 0) break;
    batch.push(piece);
    bytes += piece.length;
  }
  return batch;
};

const refused = (status: number): AppError =>
  new AppError('conflict', `the sandbox refused bytes of the relay: ${status}`);

const broken = (): AppError => new AppError('sandbox_unavailable', 'the relay of the sandbox broke');
