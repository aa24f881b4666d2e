/**
 * The JSON-RPC peer: requests to one MCP server, its answers by their ids, and a refusal of every request it makes.
 *
 * Requests are answered in any order, concurrently within a bound. A ping is answered; roots, sampling and elicitation are
 * refused, since nothing here could grant them. Unexpected answers and notifications are dropped.
 */

import type { JsonObject } from '#shared/domain/json.ts';
import { firstCharacters } from '#shared/domain/text.ts';
import type { StdioFailure } from '../../wire/messages.ts';
import { parseBoundedJson, valuesMax } from './server-lines.ts';

export type RpcAnswer =
  | { readonly result: JsonObject }
  | { readonly error: { readonly code: number; readonly message: string } };

export type RpcRequest = {
  readonly id: number;
  readonly answer: Promise<RpcAnswer>;
  /** Its answer, should one come, is dropped. */
  readonly forget: () => void;
};

export type RpcPeer = {
  readonly ask: (method: string, params: JsonObject, onProgress?: (text: string) => void) => RpcRequest;
  readonly notify: (method: string, params: JsonObject) => void;
  readonly receive: (line: Buffer) => void;
  /** Fails what waits for an answer. */
  readonly failOpen: (cause: Error) => void;
  /** Fails also every later request; the first cause stays. */
  readonly fail: (cause: Error) => void;
  readonly hasFailed: () => boolean;
};

type RpcWire = {
  /** False when it was not taken, because the other side does not read. */
  readonly write: (line: string) => boolean;
  /** A line that is no message. */
  readonly onInvalid: (line: Buffer) => void;
};

type Waiting = {
  readonly resolve: (answer: RpcAnswer) => void;
  readonly reject: (cause: Error) => void;
  readonly onProgress: ((text: string) => void) | undefined;
};

const waitingMax = 100;
const methodNotFound = -32601;

export const createRpcPeer = ({ write, onInvalid }: RpcWire): RpcPeer => {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let failure: Error | undefined;
  const failOpen = (cause: Error): void => {
    for (const question of waiting.values()) question.reject(cause);
    waiting.clear();
  };
  const send = (message: object): boolean => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const take = (message: JsonObject): void => {
    const { id, method } = message;
    if (typeof method === 'string') {
      if (typeof id === 'string' || typeof id === 'number') send({ id, ...replyTo(method) });
      else if (method === 'notifications/progress') progress(message['params']);
      return;
    }
    if (typeof id !== 'number') return;
    const question = waiting.get(id);
    waiting.delete(id);
    question?.resolve(answerOf(message));
  };
  /** The runner survives every message, of whatever it is made. It is unknown to which request this one was the answer. */
  const takeAll = (messages: readonly JsonObject[]): void => {
    try {
      for (const message of messages) take(message);
    } catch {
      failOpen(new StdioError('protocol', 'it wrote a message that cannot be read'));
    }
  };
  const progress = (params: unknown): void => {
    if (!isObject(params) || typeof params['progressToken'] !== 'number') return;
    waiting.get(params['progressToken'])?.onProgress?.(describeProgress(params));
  };
  return {
    ask: (method, params, onProgress) => {
      if (failure !== undefined) throw failure;
      if (waiting.size >= waitingMax) throw new StdioError('limit', `it has ${waiting.size} calls to answer`);
      lastId += 1;
      const id = lastId;
      const { promise, resolve, reject } = Promise.withResolvers<RpcAnswer>();
      promise.catch(() => undefined);
      const token = onProgress === undefined ? {} : { progressToken: id };
      const meta = isObject(params['_meta']) ? params['_meta'] : {};
      const _meta = { ...meta, ...token };
      if (!send({ id, method, params: { ...params, ...(Object.keys(_meta).length === 0 ? {} : { _meta }) } }))
        throw new StdioError('limit', 'it does not read its requests');
      waiting.set(id, { resolve, reject, onProgress });
      return { id, answer: promise, forget: () => waiting.delete(id) };
    },
    notify: (method, params) => void send({ method, params }),
    receive: (line) => {
      const parsed = parseBoundedJson(line);
      // It is unknown to which request this was the answer.
      if (parsed === 'too much')
        failOpen(new StdioError('protocol', `it wrote more than ${valuesMax} values`));
      else {
        const messages = parsed === 'no JSON' ? [] : messagesOf(parsed.value);
        if (messages.length === 0) onInvalid(line);
        takeAll(messages);
      }
    },
    failOpen,
    fail: (cause) => {
      failure ??= cause;
      failOpen(failure);
    },
    hasFailed: () => failure !== undefined,
  };
};

/** Revision 2025-03-26 had batches: a list of messages in one line. */
const messagesOf = (value: unknown): readonly JsonObject[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (message) => isObject(message) && message['jsonrpc'] === '2.0',
  );

const replyTo = (method: string): object =>
  method === 'ping'
    ? { result: {} }
    : { error: { code: methodNotFound, message: 'this client supports no requests of a server' } };

const answerOf = ({ result, error }: JsonObject): RpcAnswer => {
  if (isObject(result)) return { result };
  const { code, message } = isObject(error) ? error : { code: 0, message: 'neither a result nor an error' };
  return {
    error: {
      code: Number.isSafeInteger(code) ? Number(code) : 0,
      message: firstCharacters(wordOf(message), errorCharactersMax),
    },
  };
};

const errorCharactersMax = 2000;

const describeProgress = ({ progress, total, message }: JsonObject): string => {
  if (typeof message === 'string' && message !== '') return message;
  return typeof total === 'number' ? `${wordOf(progress)}/${total}` : wordOf(progress);
};

/** An object may have no text, and the conversion of one throws. */
const wordOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? 'no text' : String(value);

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class StdioError extends Error {
  override readonly name = 'StdioError';
  readonly failure: StdioFailure;

  constructor(failure: StdioFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
