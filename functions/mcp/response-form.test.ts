import { expect, test, vi } from 'vitest';
import { toJsonResponse, toNotListening, withRefusalStatus } from './response-form.ts';

const frame = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const streamOf = (pieces: readonly (readonly [afterMs: number, text: string])[]): Response => {
  const body = new ReadableStream({
    start: async (controller) => {
      for (const [afterMs, text] of pieces) {
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        controller.enqueue(new TextEncoder().encode(text));
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};
const refusal = { jsonrpc: '2.0', id: 1, error: { code: -32021, message: 'Missing required capability' } };
const result = { jsonrpc: '2.0', id: 1, result: { text: 'the number -32021' } };

test('a missing capability is shown in the status', async () => {
  const response = await withRefusalStatus(streamOf([[0, frame(refusal)]]));
  expect([response.status, await response.json()]).toEqual([400, refusal]);
});

test.each([
  ['a result that only speaks of it', [[0, frame(result)]]],
  [
    'a refusal after something else',
    [
      [0, ': alive\n\n'],
      [5, frame(refusal)],
    ],
  ],
  ['a refusal that comes late', [[200, frame(refusal)]]],
] as const)('%s is sent unchanged', async (_, pieces) => {
  const response = await withRefusalStatus(streamOf(pieces));
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  expect(await response.text()).toBe(pieces.map(([, text]) => text).join(''));
});

test('a silent stream begins all the same', async () => {
  const silent = new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
  expect((await withRefusalStatus(silent)).status).toBe(200);
});

test('a reader that stops ends the stream', async () => {
  const reasons: unknown[] = [];
  const body = new ReadableStream({ cancel: (reason) => void reasons.push(reason) });
  const headers = { 'content-type': 'text/event-stream' };
  await (await withRefusalStatus(new Response(body, { headers }))).body?.cancel('gone');
  expect(reasons).toEqual(['gone']);
});

const deferredStream = () => {
  let controller: ReadableStreamDefaultController | undefined;
  const body = new ReadableStream({
    start: (given) => {
      controller = given;
    },
  });
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const send = (text: string): void => controller?.enqueue(new TextEncoder().encode(text));
  /** Until nothing of it waits in this stream, whether the client reads or not. */
  const taken = (): Promise<void> => vi.waitFor(() => expect(controller?.desiredSize).toBeOneOf([0, 1]));
  const end = (text: string): void => {
    send(text);
    controller?.close();
  };
  return { response, send, taken, end, fail: () => controller?.error(new Error('lost')) };
};

const progress = {
  ...{ jsonrpc: '2.0', method: 'notifications/progress' },
  params: { progressToken: 1, message: 'x'.repeat(10_000) },
};
const readAll = async (response: Response): Promise<readonly string[]> =>
  (await response.text()).split('\n\n').slice(0, -1);

/** Its frames are all in their stream before the client reads the first one. */
const unread = async (newsBytesMax?: number): Promise<readonly string[]> => {
  const source = deferredStream();
  const response = await withRefusalStatus(source.response, newsBytesMax);
  for (let count = 0; count < 300; count += 1) source.send(frame(progress));
  source.end(frame(result));
  await source.taken();
  return readAll(response);
};

test('of a client that does not read, news beyond a limit is dropped, its answer never', async () => {
  const frames = await unread();
  expect(frames.at(-1)).toBe(frame(result).trimEnd());
  expect(frames.length).toBeGreaterThan(90);
  expect(frames.length).toBeLessThan(102);
});

test('a client that reads gets all news', async () => {
  const source = deferredStream();
  const read = readAll(await withRefusalStatus(source.response));
  for (let count = 0; count < 300; count += 1) {
    source.send(frame(progress));
    await source.taken();
  }
  source.end(frame(result));
  expect((await read).length).toBe(301);
});

test('of an answer in JSON no news is kept while the call runs', async () => {
  expect(await unread(0)).toEqual([frame(result).trimEnd()]);
});

test('subscribing is an unknown method; an invalid request for it stays invalid', async () => {
  const full = Response.json({ id: 3, error: { code: -32603, message: 'Subscription limit reached' } });
  const answer = await toNotListening(full);
  expect([answer.status, await answer.json()]).toEqual([
    404,
    { jsonrpc: '2.0', id: 3, error: { code: -32601, message: 'Method not found' } },
  ]);
  const bad = Response.json({ id: 3, error: { code: -32020, message: 'Header mismatch' } }, { status: 400 });
  expect(await toNotListening(bad)).toBe(bad);
});

test('a client that takes JSON gets an answer in time as it is', async () => {
  const { response, end } = deferredStream();
  end(frame(result));
  const answer = await toJsonResponse(response);
  expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
    'application/json',
    JSON.stringify(result),
  ]);
});

test('and before a late one white space, so that no proxy ends it', async () => {
  const { response, end } = deferredStream();
  const answer = await toJsonResponse(response, 0);
  const reader = answer.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(' ');
  end(frame(result));
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(JSON.stringify(result));
});

test('a late answer that breaks off says so', async () => {
  const { response, fail } = deferredStream();
  const answer = await toJsonResponse(response, 0);
  fail();
  expect(JSON.parse(await answer.text())).toMatchObject({ error: { code: -32603 } });
});
