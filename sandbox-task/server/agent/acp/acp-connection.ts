/**
 * JSON-RPC 2.0 with an agent over its stdin and stdout, one message a line: requests of both sides, and notifications of the agent.
 *
 * Messages are taken in their order, each after its listener was ready for more; what waits, for that or for its answer, is bounded, and
 * an agent that is ahead of it by too much, or writes a line without end, is given up. Lines that are no message are left out: programs
 * print.
 */

import * as z from 'zod';
import { firstCharacters } from '#shared/domain/text.ts';
import { createLineReader } from '../../../wire/lines.ts';

type Parts = {
  readonly write: (line: Buffer) => Promise<unknown>;
  readonly onNotice: (method: string, params: unknown) => void;
  /** Its result is the answer; an exception becomes an error. */
  readonly onRequest: (method: string, params: unknown) => Promise<unknown>;
  /** Resolves when more may be said. */
  readonly room: () => Promise<void>;
  /** Nothing is taken after it. */
  readonly onBroken: (reason: string) => void;
};

export type AcpConnection = {
  /** Bytes of the agent's stdout. */
  readonly take: (bytes: Buffer) => void;
  readonly request: (method: string, params: object, msMax?: number) => Promise<unknown>;
  readonly notify: (method: string, params: object) => Promise<void>;
  /** Fails what waits for an answer. */
  readonly close: (reason: string) => void;
};

const message = z.object({
  id: z.union([z.number(), z.string().max(256)]).nullish(),
  method: z.string().max(256).exactOptional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string().catch('') }).exactOptional(),
});

type Message = z.output<typeof message>;
type AgentRequest = { readonly id: number | string; readonly method: string; readonly params: unknown };

const lineBytesMax = 4 * 1_048_576;
const waitingBytesMax = 8 * 1_048_576;
/** A request that waits for its answer holds more than its line: a thousand may wait. */
const requestBytesMin = waitingBytesMax / 1000;
const methodNotFound = -32_601;
const reasonCharactersMax = 1000;

export class UnknownMethod extends Error {
  override readonly name = 'UnknownMethod';
}

export const createAcpConnection = ({ write, room, ...heard }: Parts): AcpConnection => {
  const asked = new Map<number | string, PromiseWithResolvers<unknown>>();
  let waiting = 0;
  let lastId = 0;
  let isOver = false;
  let queue: Promise<void> = Promise.resolve();

  const close = (reason: string): void => {
    isOver = true;
    for (const { reject } of asked.values()) reject(new Error(reason));
    asked.clear();
  };
  const breakOff = (reason: string): void => {
    if (isOver) return;
    close(reason);
    heard.onBroken(reason);
  };
  const send = async (body: object): Promise<void> => {
    if (isOver) return;
    const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...body })}\n`);
    await write(line).catch((cause: unknown) => breakOff(messageOf(cause)));
  };
  const hold = (bytes: number): void => {
    waiting += bytes;
    if (waiting > waitingBytesMax) breakOff('it says more than can be heard');
  };
  const answer = async ({ id, method, params }: AgentRequest, bytes: number): Promise<void> => {
    hold(bytes);
    if (isOver) return;
    try {
      await send({ id, result: (await heard.onRequest(method, params)) ?? null });
    } catch (cause) {
      const code = cause instanceof UnknownMethod ? methodNotFound : -32_000;
      await send({ id, error: { code, message: messageOf(cause) } });
    } finally {
      waiting -= bytes;
    }
  };
  const settle = ({ id, result, error }: Message): void => {
    const waits = asked.get(id ?? '');
    asked.delete(id ?? '');
    if (error !== undefined) waits?.reject(new Error(firstCharacters(error.message, reasonCharactersMax)));
    else waits?.resolve(result);
  };
  const handle = async (line: Buffer): Promise<void> => {
    waiting -= line.length;
    const read = messageIn(line);
    if (read === undefined || isOver) return;
    const { id, method, params } = read;
    if (method === undefined) return settle(read);
    if (id === undefined || id === null) heard.onNotice(method, params);
    // Not waited for: a person may have to decide, while the agent says more.
    else void answer({ id, method, params }, Math.max(line.length, requestBytesMin));
    return room();
  };
  const put = (line: Buffer): void => {
    hold(line.length);
    if (isOver) return;
    queue = queue.then(() => handle(line)).catch((cause: unknown) => breakOff(messageOf(cause)));
  };
  const lines = createLineReader({
    bytesMax: lineBytesMax,
    onLine: (line) => put(Buffer.from(line)),
    onOverlong: () => breakOff('it wrote a line that is too long'),
  });
  return {
    take: (bytes) => {
      if (!isOver) lines.push(bytes);
    },
    request: async (method, params, msMax) => {
      if (isOver) throw new Error('it no longer runs');
      lastId += 1;
      const id = lastId;
      const waits = Promise.withResolvers<unknown>();
      asked.set(id, waits);
      const timer = msMax === undefined ? undefined : setTimeout(() => waits.reject(late(method)), msMax);
      const answered = waits.promise.finally(() => clearTimeout(timer));
      // The agent may end while its request is still written: the answer is not waited for yet.
      answered.catch(() => undefined);
      await send({ id, method, params });
      return answered;
    },
    notify: (method, params) => send({ method, params }),
    close,
  };
};

const late = (method: string): Error => new Error(`it did not answer ${method} in time`);

const messageOf = (cause: unknown): string =>
  firstCharacters(cause instanceof Error ? cause.message : String(cause), reasonCharactersMax);

const messageIn = (line: Buffer): Message | undefined => {
  try {
    return message.safeParse(JSON.parse(line.toString())).data;
  } catch {
    return undefined;
  }
};
