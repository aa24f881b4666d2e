/** Tools of a program, on a real server: called by an agent, answered while the turn is followed, and withdrawn behind it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AgentSession } from '#sdk/agent-session.ts';
import type { CallerTool } from '#sdk/caller-tools.ts';
import type { Frame } from '#sdk/frames.ts';
import { api } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

type Options = Partial<ConstructorParameters<typeof Sallyport>[0]>;
const openSession = (options: Options = {}, approvals: 'auto' | 'ask' = 'auto'): Promise<AgentSession> =>
  new Sallyport({ url: cloud.url, token: cloud.token, ...options }).sessions.create({ approvals });

const add: CallerTool = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  handler: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
};
const toolOf = (name: string, handler: CallerTool['handler']): CallerTool => ({ name, handler });

const read = async (events: AsyncIterable<Frame>): Promise<readonly Frame[]> => {
  const all: Frame[] = [];
  for await (const event of events) all.push(event);
  return all;
};
const answerIn = (events: readonly Frame[]): string =>
  events.flatMap(({ type, data }) => (type === 'completion' ? [data.text] : [])).join();
const countOf = (events: readonly Frame[], type: Frame['type']): number =>
  events.filter((event) => event.type === type).length;

test.each([
  ['over a WebSocket', {}],
  ['without one', { WebSocket: null }],
] as const)('results and errors of tools reach the agent, %s', async (_, options) => {
  const session = await openSession(options);
  const tools = [
    add,
    toolOf('fail', async () => {
      throw new Error('no such customer');
    }),
    toolOf('long', () => 'x'.repeat(5_000_000)),
    toolOf('cycle', () => 1n),
    toolOf('quiet', () => undefined),
  ];
  const calls = ['add {"a": 1, "b": 2}', 'fail', 'long', 'cycle', 'quiet'];
  const events = await read(session.send(calls.map((one) => `call program_${one}`).join('\n'), { tools }));
  const text = answerIn(events);
  expect(text).toContain('{"sum":3}');
  expect(text).toContain('no such customer');
  expect(text).toMatch(/program_long failed:[\s\S]*its result was refused/);
  expect(text).toMatch(/program_cycle failed:[\s\S]*BigInt/);
  expect([countOf(events, 'tool:output'), countOf(events, 'agent:error')]).toEqual([2, 3]);
});

test('tools are withdrawn behind the turn, and offered under another id on request', async () => {
  const session = await openSession();
  const text = 'call shop_add {"a": 2, "b": 2}';
  expect(answerIn(await read(session.send(text, { tools: [add], callerId: 'shop' })))).toContain('{"sum":4}');
  expect(answerIn(await read(session.send(text)))).toContain('This is the demo provider');
});

test('a call of a tool needs its approval as any other does', async () => {
  const session = await openSession({}, 'ask');
  let text = '';
  for await (const event of session.send('call program_add {"a": 3, "b": 4}', { tools: [add] })) {
    if (event.type === 'tool:approval_required') await session.approve(event, { args: { a: 30, b: 4 } });
    if (event.type === 'completion') text = event.data.text;
  }
  expect(text).toContain('{"sum":34}');
});

test('a call is answered once when the connection breaks while its tool runs', async () => {
  const sockets: WebSocket[] = [];
  class OpenedSocket extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      sockets.push(this);
    }
  }
  const session = await openSession({ WebSocket: OpenedSocket });
  let runs = 0;
  const slow = toolOf('slow', async () => {
    runs += 1;
    for (const count of [2, 3]) {
      sockets.at(-1)?.close();
      await expect.poll(() => sockets.length).toBe(count);
      await expect.poll(() => sockets.at(-1)?.readyState).toBe(WebSocket.OPEN);
    }
    return 'slept';
  });
  const events = await read(session.send('call program_slow', { tools: [slow] }));
  expect([runs, countOf(events, 'caller_tool:request'), countOf(events, 'tool:output')]).toEqual([1, 1, 1]);
  expect(answerIn(events)).toContain('slept');
});

test('a program that stops following answers its calls with that, and its tools learn of it', async () => {
  const session = await openSession();
  let reason: unknown;
  const endless = toolOf('endless', (_args, { signal }) => {
    signal.addEventListener('abort', () => {
      reason = signal.reason;
    });
    return new Promise(() => undefined);
  });
  for await (const { type } of session.send('call program_endless', { tools: [endless] }))
    if (type === 'caller_tool:request') break;
  expect(reason).toMatchObject({ name: 'AbortError' });
  const messages = await eventually(
    () => session.messages(),
    (all) => all.at(-1)?.role === 'assistant' && all.length > 2,
  );
  expect(JSON.stringify(messages)).toContain('the program does not follow the turn any more');
});

test('a program that died takes up the call that waits, and none that was answered', async () => {
  const session = await openSession();
  const params = { id: session.id };
  const sallyport = new Sallyport(cloud);
  const { handler: _, ...offered } = add;
  const offer = { callerId: 'program', tools: [offered] };
  await sallyport.request(api.declareCallerTools, { params, body: offer });
  const message = { text: 'call program_add {"a": 5, "b": 6}', messageId: 'one' };
  await sallyport.request(api.sendMessage, { params, body: message });
  await eventually(
    () => sallyport.request(api.readEvents, { params }),
    ({ events }) => events.some(({ type }) => type === 'caller_tool:request'),
  );
  let runs = 0;
  const counted = { ...add, handler: ({ a, b }: { a: number; b: number }) => ({ run: ++runs, sum: a + b }) };
  const send = () => read(session.send(message.text, { messageId: 'one', tools: [counted] }));
  const first = await send();
  expect(answerIn(first)).toContain('{"run":1,"sum":11}');
  const logged = (events: readonly Frame[]) => events.flatMap(({ seq }) => seq ?? []);
  expect(logged(await send())).toEqual(logged(first));
  expect(runs).toBe(1);
});

test('a program runs no call of another one that offers a tool of the same name', async () => {
  const session = await openSession();
  const sallyport = new Sallyport(cloud);
  const { handler: _, ...offered } = add;
  const offer = { callerId: 'other', tools: [offered] };
  await sallyport.request(api.declareCallerTools, { params: { id: session.id }, body: offer });
  let runs = 0;
  const counted = toolOf('add', () => ++runs);
  const events: Frame[] = [];
  for await (const event of session.send('call other_add {"a": 1, "b": 1}', { tools: [counted] })) {
    events.push(event);
    if (event.type !== 'caller_tool:request') continue;
    const params = { id: session.id, requestId: event.data.requestId };
    await sallyport.request(api.answerCallerTool, { params, body: { result: 'of the other' } });
  }
  expect(answerIn(events)).toContain('of the other');
  expect(runs).toBe(0);
});

test('a program that ends leaves the tools that another one has offered since', async () => {
  const session = await openSession();
  const params = { id: session.id };
  const next = { callerId: 'program', tools: [{ name: 'next' }] };
  for await (const { type } of session.send('call program_add {"a": 1, "b": 1}', { tools: [add] }))
    if (type === 'completion')
      await new Sallyport(cloud).request(api.declareCallerTools, { params, body: next });
  let asked: unknown;
  for await (const { type, data } of session.send('call program_next')) {
    if (type === 'caller_tool:request') asked = data;
    if (type === 'caller_tool:request' || type === 'completion') break;
  }
  expect(asked).toMatchObject({ callerId: 'program', name: 'next' });
});

test('a program follows one turn of a session with tools at a time', async () => {
  const session = await openSession();
  const events = session.send('call program_add {"a": 1, "b": 1}', { tools: [add] });
  await events.next();
  const again = session.send('call program_add {"a": 1, "b": 1}', { tools: [add] });
  await expect(again.next()).rejects.toMatchObject({ name: 'SallyportError', code: 'conflict' });
  expect(answerIn(await read(events))).toContain('{"sum":2}');
});

test('a tool that the server refuses is told before the message is sent', async () => {
  const session = await openSession();
  const events = session.send('hello', { tools: [toolOf('has a space', () => '')] });
  await expect(events.next()).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
  expect(await session.messages()).toEqual([]);
});
