/**
 * Transfers of a volume as an archive: `GET /checkpoint` out of the sandbox, `POST /restore` into it, and the same below
 * `/shared`; `POST /apply` writes and deletes single entries of the workspace. They run one after another, since two at once would each see half of the other.
 *
 * A piece is fetched from the runner while the previous one is sent, and acknowledged by it before the next is read.
 * Frames are checked one by one and passed on unchanged: a forged frame, or a runner that ends, breaks the response off
 * before its `end`. A malformed archive is refused where it breaks; entries written by then stay, and no index of them
 * is stored. Guarantees W9 and W10 of docs/spec/sandbox.md.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { type ArchiveFrame, encodeArchiveFrame, readArchive } from '#shared/contracts/archive.ts';
import { logNumberTrailer } from '#shared/contracts/sandbox-call.ts';
import { isPlainPath } from '#shared/domain/checkpoint.ts';
import { firstCharacters } from '#shared/domain/text.ts';
import type { MissingEntry } from '../wire/messages.ts';
import type { VolumeName } from '../wire/transfer-messages.ts';
import { type ArchiveCheck, createArchiveCheck } from './archive-check.ts';
import { endPaced, stallMsMax, writePaced } from './http-messages.ts';
import type { LogRing } from './logs.ts';
import { Refusal } from './refusal.ts';
import { parseMissing } from './runner-message.ts';
import type { Answer } from './runner-process.ts';
import { type Ask, expectAnswer, type UserSide } from './user-side.ts';

const query = z.object({ id: z.uuid(), base: z.union([z.uuid(), z.literal('')]) });
type CheckpointRequest = z.output<typeof query> & { readonly volume: VolumeName };

export const readCheckpointRequest = (volume: VolumeName, parameters: URLSearchParams): CheckpointRequest => {
  const request = query.safeParse({ id: parameters.get('id'), base: parameters.get('base') ?? '' });
  if (!request.success) throw new Refusal('invalid_request', 'id is a UUID, base is a UUID or empty');
  return { ...request.data, volume };
};

type Settled = { readonly volume: VolumeName; readonly checkpoint: string; readonly as: string };

/** The sent checkpoint is stored, or had nothing new beside the one that it settles `as`. */
export const settleCheckpoint = async (userSide: UserSide, settled: Settled): Promise<void> => {
  expectAnswer(await userSide.ask({ type: 'checkpoint-settle', transfer: '', ...settled }), 'done');
};

type CheckpointParts = { readonly userSide: UserSide; readonly logRing: Pick<LogRing, 'last'> };

/** A line that was written while it was sent counts: its number comes behind the archive. */
export const sendCheckpoint = async (
  { userSide, logRing }: CheckpointParts,
  { volume, id, base }: CheckpointRequest,
  response: ServerResponse,
): Promise<void> => {
  // The client may have disconnected while the request was queued.
  if (response.destroyed) return;
  const ask = await userSide.pin();
  const transfer = randomUUID();
  const check = createArchiveCheck({ allowsRemoved: volume === 'shared' });
  try {
    expectAnswer(await ask({ type: 'checkpoint-open', transfer, volume, checkpoint: id, base }), 'done');
    const next = (): Promise<Answer> => ask({ type: 'checkpoint-read', transfer });
    for (let coming: Promise<Answer> | undefined = next(); coming !== undefined; ) {
      const answer: Answer = await coming;
      coming = expectAnswer(answer, 'piece').isLast ? undefined : next();
      // It is not awaited when this piece fails.
      coming?.catch(() => undefined);
      await checkPiece(check, answer.payload);
      // It is still at work, and may refuse.
      if (answer.payload.length === 0) continue;
      if (!response.headersSent)
        response.writeHead(200, { 'content-type': 'application/octet-stream', trailer: logNumberTrailer });
      await writePaced(response, answer.payload);
    }
    if (!check.isEnded()) throw new Error('the runner sent an archive without its end');
    response.addTrailers({ [logNumberTrailer]: String(logRing.last()) });
    await endPaced(response);
  } finally {
    // A runner that does not answer any more has nothing left to close.
    await ask({ type: 'transfer-close', transfer }).catch(() => undefined);
  }
};

const checkPiece = async (check: ArchiveCheck, piece: Buffer): Promise<void> => {
  for await (const frame of readArchive(ReadableStream.from([piece]))) {
    const { header } = frame;
    if ('path' in header && header.type !== 'left-out' && !isPlainPath(header.path)) {
      throw new Error('the runner named an entry outside of the workspace');
    }
    check.check(frame);
  }
};

/** Frames are sent on together from this size. */
const pieceBytesMin = 128 * 1024;

export const readTransferId = (parameters: URLSearchParams, name: 'id' | 'as' = 'id'): string => {
  const id = z.uuid().safeParse(parameters.get(name));
  if (!id.success) throw new Refusal('invalid_request', `${name} is a UUID`);
  return id.data;
};

type Received = {
  readonly volume: VolumeName;
  readonly id: string;
  /** Only what changed: the rest stays, and what is saved of it stays known. */
  readonly applies?: boolean;
};

export const receiveRestore = async (
  userSide: UserSide,
  { volume, id: checkpoint, applies = false }: Received,
  request: IncomingMessage,
): Promise<{ readonly files: number; readonly missing: readonly MissingEntry[] }> => {
  const ask = await userSide.pin();
  const transfer = randomUUID();
  const { socket } = request;
  const drop = (): void => void socket.destroy();
  socket.setTimeout(stallMsMax, drop);
  try {
    expectAnswer(await ask({ type: 'restore-open', transfer, volume, checkpoint, applies }), 'done');
    // A refusal in the middle of the request must still reach the client: the connection stays open.
    await passOn(request.iterator({ destroyOnReturn: false }), {
      check: createArchiveCheck({ allowsRemoved: applies }),
      write: (piece) => writePiece(ask, transfer, piece),
    });
    const answer = await ask({ type: 'restore-end', transfer });
    const { files } = expectAnswer(answer, 'restored');
    return { files, missing: parseMissing(answer.payload) };
  } finally {
    socket.setTimeout(0, drop);
    // A runner that does not answer any more has nothing left to close.
    await ask({ type: 'transfer-close', transfer }).catch(() => undefined);
  }
};

const writePiece = async (ask: Ask, transfer: string, piece: Buffer): Promise<void> => {
  expectAnswer(await ask({ type: 'restore-write', transfer }, piece), 'done');
};

const passOn = async (
  request: AsyncIterable<Uint8Array>,
  { check, write }: { readonly check: ArchiveCheck; readonly write: (piece: Buffer) => Promise<void> },
): Promise<void> => {
  let pending: Uint8Array[] = [];
  let bytes = 0;
  for await (const frame of parseArchive(request)) {
    check.check(frame);
    const encoded = encodeArchiveFrame(frame.header, frame.payload);
    pending.push(encoded);
    bytes += encoded.length;
    if (bytes < pieceBytesMin) continue;
    await write(Buffer.concat(pending));
    pending = [];
    bytes = 0;
  }
  if (bytes > 0) await write(Buffer.concat(pending));
  if (!check.isEnded()) throw new Refusal('invalid_request', 'the archive has no end');
};

async function* parseArchive(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveFrame> {
  try {
    yield* readArchive(chunks);
  } catch (cause) {
    const reason = cause instanceof Error ? firstCharacters(cause.message, reasonCharactersMax) : '';
    throw new Refusal('invalid_request', `the archive is malformed: ${reason}`, { cause });
  }
}

const reasonCharactersMax = 300;

export type WorkQueue = {
  readonly run: (work: () => Promise<void>) => Promise<void>;
  /** Resolves when everything that waits by now is over. */
  readonly idle: () => Promise<void>;
};

export const createWorkQueue = (waitingMax: number): WorkQueue => {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  return {
    async run(work) {
      if (waiting >= waitingMax) {
        throw new Refusal('resource_limit_exceeded', `${waiting} checkpoints and restores wait already`);
      }
      waiting += 1;
      const previous = last;
      const over = Promise.withResolvers<void>();
      last = over.promise;
      try {
        await previous;
        await work();
      } finally {
        waiting -= 1;
        over.resolve();
      }
    },
    idle: () => last,
  };
};
