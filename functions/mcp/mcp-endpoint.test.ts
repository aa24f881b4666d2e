/** The endpoint with tools of the test's own, through both protocols, from the client's side. */

import { once } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { AppError } from '#shared/errors.ts';
import { defineTool, type Tool, type ToolContext } from './define-tool.ts';
import { answerMcp, cancelledIn, type EndpointContext } from './mcp-endpoint.ts';
import { toolServer } from './tool-server.ts';

const logged: string[] = [];
const note = (message: string): void => {
  logged.push(message);
};
const telemetry = { info: note, warn: note, error: note, count: () => undefined, duration: () => undefined };
const context = {
  ports: { telemetry, correlation: { id: () => 'r-1' }, world: systemWorld },
  principal: { scope: 'admin', tokenHash: 'abc' },
} as unknown as EndpointContext;
const endpoint = new URL('http://sallyport/mcp');

afterEach(() => {
  logged.length = 0;
  vi.useRealTimers();
});

const toolOf = (run: (context: ToolContext) => Promise<{ answer: string }>): Tool =>
  defineTool({
    name: 'ask',
    description: 'Asks.',
    needs: 'any',
    input: z.strictObject({}),
    output: z.object({ answer: z.string() }),
    annotations: { title: 'Ask', readOnlyHint: true, openWorldHint: false },
    run: async (_, call) => run(call),
  });

const calm = toolOf(async () => ({ answer: 'yes' }));

const connected = async (tool: Tool, era: 'legacy' | 'modern') => {
  const fetch = (url: string | URL, init?: RequestInit) =>
    answerMcp(new Request(url, init), toolServer([tool]), context);
  const mode = era === 'legacy' ? ('legacy' as const) : { pin: '2026-07-28' };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(endpoint, { fetch }));
  return client;
};

const post = (body: unknown, headers: Record<string, string> = {}) =>
  new Request(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const callOf = (name: string) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name } });

test.each(['legacy', 'modern'] as const)('a %s client lists tools and gets results', async (era) => {
  const client = await connected(calm, era);
  const { tools } = await client.listTools();
  expect(tools.map(({ name, outputSchema }) => [name, outputSchema?.['type']])).toEqual([['ask', 'object']]);
  expect(await client.callTool({ name: 'ask', arguments: {} })).toMatchObject({
    content: [{ type: 'text', text: '{"answer":"yes"}' }],
    structuredContent: { answer: 'yes' },
  });
  await client.close();
});

test.each([
  ['2025-11-25', true],
  ['2025-06-18', true],
  ['2025-03-26', false],
  [undefined, false],
])('a client of revision %s is sent output schemas: %s', async (revision, isSent) => {
  const headers = { accept: 'application/json', ...(revision && { 'mcp-protocol-version': revision }) };
  const request = post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
  const response = await answerMcp(request, toolServer([calm]), context);
  const { result } = (await response.json()) as { result: { tools: readonly object[] } };
  expect(result.tools.map((tool) => 'outputSchema' in tool)).toEqual([isSent]);
});

test.each([
  ['2025-11-25', { textBytes: 131_072, isWhole: false, hasFields: true }],
  [undefined, { textBytes: 700_013, isWhole: true, hasFields: true }],
  ['2025-03-26', { textBytes: 700_013, isWhole: true, hasFields: false }],
])('a client of revision %s is sent a long result whole where it may read it', async (revision, expected) => {
  const answer = 'ж'.repeat(350_000);
  const long = toolOf(async () => ({ answer }));
  const headers = { accept: 'application/json', ...(revision && { 'mcp-protocol-version': revision }) };
  const response = await answerMcp(post(callOf('ask'), headers), toolServer([long]), context);
  const { result } = (await response.json()) as {
    result: { content: [{ text: string }]; structuredContent?: object };
  };
  const { text } = result.content[0];
  expect(JSON.parse(text).answer).toMatch(/^жжж/);
  expect(JSON.parse(text).answer === answer).toBe(expected.isWhole);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(expected.textBytes);
  expect(result.structuredContent).toEqual(expected.hasFields ? { answer } : undefined);
});

test.each(['legacy', 'modern'] as const)('a %s client gets a refusal as a result', async (era) => {
  const refusing = toolOf(async () => {
    throw new AppError('conflict', 'not now', {
      suggestions: ['Wait.'],
      recoveryActions: ['wait_and_retry'],
    });
  });
  const client = await connected(refusing, era);
  await client.listTools();
  const { _meta, ...result } = await client.callTool({ name: 'ask', arguments: {} });
  expect(result).toEqual({
    isError: true,
    content: [
      {
        type: 'text',
        text: '{"error":{"type":"conflict","message":"not now","suggestions":["Wait."],"recovery_actions":["wait_and_retry"]}}',
      },
    ],
  });
  expect(_meta?.['dev.sallyport/requestId']).toBe('r-1');
  expect(logged).toEqual(['a request was refused']);
  await client.close();
});

test('an internal error hides its text and is logged', async () => {
  const faulty = toolOf(async () => {
    throw new Error('the secret is 42');
  });
  const client = await connected(faulty, 'modern');
  const result = await client.callTool({ name: 'ask', arguments: {} });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain('internal_error');
  expect(JSON.stringify(result)).not.toMatch(/secret|\.ts/);
  expect(logged).toEqual(['a request failed']);
  await client.close();
});

test.each([
  ['initialize', { cursor: 7 }],
  ['tools/list', { cursor: 7 }],
])('parameters of the wrong form are invalid parameters (%s)', async (method, params) => {
  const headers = { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' };
  const request = post({ jsonrpc: '2.0', id: 1, method, params }, headers);
  const response = await answerMcp(request, toolServer([calm]), context);
  const error = { code: -32602, message: `Invalid params for ${method}` };
  expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, error });
});

test('an unknown tool is a protocol error', async () => {
  const client = await connected(calm, 'modern');
  await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  await client.close();
});

test.each(['legacy', 'modern'] as const)('a %s client receives output while its call runs', async (era) => {
  const heard = new AbortController();
  const talking = toolOf(async ({ onProgress }) => {
    onProgress({ stream: 'stdout', offset: 0, text: 'first' });
    await once(heard.signal, 'abort');
    return { answer: 'heard' };
  });
  const client = await connected(talking, era);
  const pieces: unknown[] = [];
  const { structuredContent } = await client.callTool(
    { name: 'ask', arguments: {} },
    {
      onprogress: (piece) => {
        pieces.push(piece);
        heard.abort();
      },
    },
  );
  expect(structuredContent).toEqual({ answer: 'heard' });
  expect(pieces).toEqual([expect.objectContaining({ progress: 1, message: 'first' })]);
  await client.close();
});

test.each(['legacy', 'modern'] as const)(
  'the first progress of a %s client names the session',
  async (era) => {
    const entering = toolOf(async ({ onSession, onPhase }) => {
      onSession('11111111-1111-4111-8111-111111111111' as SessionId);
      onPhase('starting the sandbox');
      return { answer: 'yes' };
    });
    const client = await connected(entering, era);
    const heard: unknown[] = [];
    await client.callTool({ name: 'ask', arguments: {} }, { onprogress: (progress) => heard.push(progress) });
    const _meta = { 'dev.sallyport/sessionId': '11111111-1111-4111-8111-111111111111' };
    expect(heard).toEqual([
      { progress: 1, message: '[session 11111111-1111-4111-8111-111111111111]', _meta },
      {
        progress: 2,
        message: '[starting the sandbox]',
        _meta: { ..._meta, 'dev.sallyport/phase': 'starting the sandbox' },
      },
    ]);
    await client.close();
  },
);

test('a silent call sends a keep-alive every ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const started = new AbortController();
  const ended = new AbortController();
  const slow = toolOf(async () => {
    started.abort();
    await once(ended.signal, 'abort');
    return { answer: 'late' };
  });
  const client = await connected(slow, 'modern');
  const begun = once(started.signal, 'abort');
  const heard: unknown[] = [];
  const call = client.callTool(
    { name: 'ask', arguments: {} },
    { onprogress: ({ progress, message }) => heard.push([progress, message]) },
  );
  await begun;
  await vi.advanceTimersByTimeAsync(9_999);
  await vi.advanceTimersByTimeAsync(10_001);
  ended.abort();
  await call;
  expect(heard).toEqual([
    [1, 'still working'],
    [2, 'still working'],
  ]);
  expect(vi.getTimerCount()).toBe(0);
  await client.close();
});

test.each([
  ['legacy', {}, true],
  ['legacy', { _meta: { progressToken: 7 } }, false],
  [
    'modern',
    {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
    true,
  ],
])(
  'a %s client closes its stream: the call is cancelled as its protocol says',
  async (era, extra, cancels) => {
    const seen: AbortSignal[] = [];
    const started = new AbortController();
    const endless = toolOf(async ({ signal }) => {
      seen.push(signal);
      started.abort();
      await once(signal, 'abort');
      return { answer: 'never' };
    });
    const begun = once(started.signal, 'abort');
    const body = { ...callOf('ask'), params: { name: 'ask', ...extra } };
    const named = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'ask' };
    const headers = { accept: 'application/json, text/event-stream', ...(era === 'modern' ? named : {}) };
    const response = await answerMcp(post(body, headers), toolServer([endless]), context);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await begun;
    expect(seen[0]?.aborted).toBe(false);
    await response.body?.cancel();
    expect(seen[0]?.aborted).toBe(cancels);
  },
);

test.each(['application/json', '*/*'])('a client that accepts %s gets JSON', async (accept) => {
  const response = await answerMcp(post(callOf('ask'), { accept }), toolServer([calm]), context);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(await response.json()).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: {
      content: [{ type: 'text', text: '{"answer":"yes"}' }],
      structuredContent: { answer: 'yes' },
    },
  });
});

test.each([
  ['no JSON', '{', 400],
  ['no request', 'null', 400],
  ['an unknown method', { jsonrpc: '2.0', id: 7, method: 'dance' }, 200],
  ['arguments that are no object', { ...callOf('ask'), params: { name: 'ask', arguments: [1] } }, 200],
  ['more than 4 MiB', 'x'.repeat(4 * 1_048_576 + 1), 413],
])('%s is a JSON-RPC error without a stack', async (_, body, status) => {
  const response = await answerMcp(post(body), toolServer([calm]), context);
  expect(response.status).toBe(status);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  expect(text).not.toMatch(/\.[cm]?[jt]s\b|node_modules|\bat /);
});

test('a client that subscribes is refused at once, since there are no notifications', async () => {
  const client = await connected(calm, 'modern');
  await expect(client.listen({ toolsListChanged: true })).rejects.toThrow();
  await client.close();
});

const cancel = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'enough' },
});

test.each([
  ['one', cancel(7), [7]],
  ['an id that is a text', cancel('7'), ['7']],
  ['several in one body, each once', [cancel(1), { method: 'ping' }, cancel('1'), cancel(1)], [1, '1']],
  ['no more than ten', Array.from({ length: 12 }, (_, id) => cancel(id)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ['another notification', { method: 'notifications/initialized' }, []],
  ['an id that is none', cancel({}), []],
  ['an id without end', cancel('x'.repeat(1001)), []],
  ['no params', { method: 'notifications/cancelled' }, []],
])('%s', (_, body, ids) => {
  expect(cancelledIn(JSON.stringify(body))).toEqual(ids);
});

test('text that is not JSON, or is too long, names no request', () => {
  expect(cancelledIn('notifications/cancelled {')).toEqual([]);
  expect(cancelledIn(JSON.stringify([cancel(1), 'x'.repeat(70_000)]))).toEqual([]);
});
