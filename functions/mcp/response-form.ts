/**
 * The form and the status of a response, decided before it begins, since a stream that has begun could no longer change them.
 *
 * For clients that take no event stream, the stream is read to its end, and its answers are returned as JSON: notifications
 * in between are dropped; a response that is no stream is passed on as it is. Before an answer that takes long white space is
 * sent, since proxies end a silent one.
 *
 * The SDK queues frames without end for a client that does not read. Therefore its stream is read at once, whatever the client
 * does, and of what waits for the client only answers exceed a limit: news beyond it is dropped.
 *
 * The protocol wants to see two refusals as HTTP statuses: a client that lacks a capability (400), and an unknown method
 * (404). Listening is an unknown method: nothing is announced here, and the SDK would report too many listeners. A stream
 * without immediate bytes goes out as it is.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import { firstOf, lateJson } from '#shared/adapters/lambda/late-json.ts';
import { answerSilenceMsMax } from '#shared/domain/limits.ts';

const isStream = ({ headers }: Request | Response, name: string): boolean =>
  /\btext\/event-stream\b/i.test(headers.get(name) ?? '');

/** A simple client names no form, or any: it reads JSON. */
export const acceptsStream = (request: Request): boolean => isStream(request, 'accept');

export const toJsonResponse = async (
  response: Response,
  silenceMs = answerSilenceMsMax,
): Promise<Response> => {
  if (!isStream(response, 'content-type')) return response;
  const answer = answersOf(response);
  const early = await firstOf(
    answer.then((value) => ({ value })),
    silenceMs,
  );
  const headers = { 'cache-control': 'no-store' };
  if (early !== undefined) return Response.json(early.value, { headers });
  const outcome = answer.catch(() => brokenOff);
  return new Response(lateJson(outcome), { headers: { ...headers, 'content-type': 'application/json' } });
};

const answersOf = async (response: Response): Promise<unknown> => {
  const answers = (await response.text())
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice('data: '.length))] : []))
    .filter(isAnswer);
  return answers.length === 1 ? answers[0] : answers;
};

const missingCapability = -32021;
const methodNotFound = -32601;

/** The time for which the response's head waits for its first bytes: a refusal comes sooner. */
const firstBytesMsMax = 50;
const refusalCharactersMax = 64 * 1024;

export const isListening = (request: Request): boolean =>
  request.headers.get('mcp-method') === 'subscriptions/listen';

/** For a request that the SDK accepted; its other refusals stay as they are. */
export const toNotListening = async (response: Response): Promise<Response> => {
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return response;
  const body = (await response.clone().json()) as {
    readonly id?: unknown;
    readonly error?: { code?: number };
  };
  if (body.error?.code !== internalError) return response;
  const error = { code: methodNotFound, message: 'Method not found' };
  return Response.json({ jsonrpc: '2.0', id: body.id ?? null, error }, { status: 404 });
};
const internalError = -32603;

/** The status is sent: a call that broke off can only say so in its answer. */
const brokenOff = {
  jsonrpc: '2.0',
  id: null,
  error: { code: internalError, message: 'the call was interrupted' },
};

/** So much news waits for a client that reads slowly. */
export const unreadNewsBytesMax = 1_000_000;

export const withRefusalStatus = async (
  response: Response,
  newsBytesMax = unreadNewsBytesMax,
): Promise<Response> => {
  if (response.status !== 200 || response.body === null || !isStream(response, 'content-type'))
    return response;
  const reader = response.body.getReader();
  const first = reader.read();
  const early = await Promise.race([first, afterFirstBytes()]);
  const refusal = early === undefined ? undefined : refusalIn(early.value);
  if (refusal !== undefined) {
    await reader.cancel();
    return Response.json(refusal, { status: 400 });
  }
  const body = new ReadableStream<Uint8Array>(
    // The promise ends with the last frame: should it fail, the stream does.
    {
      start: (controller) => passOn(first, reader, controller),
      cancel: (reason) => reader.cancel(reason),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: newsBytesMax }),
  );
  return new Response(body, { status: response.status, headers: response.headers });
};

const afterFirstBytes = (): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), firstBytesMsMax).unref());

const refusalIn = (bytes: Uint8Array | undefined): object | undefined => {
  const text = new TextDecoder().decode(bytes);
  if (text.length > refusalCharactersMax || !text.includes(String(missingCapability))) return undefined;
  const data = /^data: (.*)$/m.exec(text)?.[1];
  const message = data === undefined ? undefined : JSON.parse(data);
  return message?.error?.code === missingCapability ? message : undefined;
};

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const passOn = async (
  first: ReturnType<Reader['read']>,
  reader: Reader,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<void> => {
  for (let next = await first; !next.done; next = await reader.read()) {
    const hasRoom = (controller.desiredSize ?? 0) > 0;
    if (hasRoom || !isNews(next.value)) controller.enqueue(next.value);
  }
  controller.close();
};

/** A notification or a comment: the SDK sends each frame by itself. */
const isNews = (frame: Uint8Array): boolean =>
  new TextDecoder()
    .decode(frame)
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .every((line) => !isAnswer(JSON.parse(line.slice('data: '.length))));

const isAnswer = (message: object): boolean => 'result' in message || 'error' in message;
