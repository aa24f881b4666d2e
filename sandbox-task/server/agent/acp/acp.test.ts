/** The wire of the Agent Client Protocol as this end reads it: lines cut anywhere, bounds, both sides' requests, and updates as facts. */
import { describe, expect, test } from 'vitest';
import { type AcpConnection, createAcpConnection, UnknownMethod } from './acp-connection.ts';
import { createAcpFacts } from './acp-facts.ts';
import { isAsked, modelVariables, optionFor, type SessionUpdate, sessionUpdate } from './acp-wire.ts';

const ready = async (): Promise<void> => undefined;
const never = (): Promise<void> => new Promise(() => undefined);

type PlayOptions = {
  readonly onNotice?: (method: string) => void;
  readonly room?: () => Promise<void>;
};

const play = ({ onNotice = () => undefined, room = ready }: PlayOptions = {}) => {
  const written: unknown[] = [];
  const broken: string[] = [];
  const connection: AcpConnection = createAcpConnection({
    write: async (line) => void written.push(JSON.parse(line.toString())),
    onNotice,
    room,
    onRequest: async (method) => {
      if (method === 'endless') return never();
      if (method === 'known') return { is: 'done' };
      throw new UnknownMethod(`there is no ${method} here`);
    },
    onBroken: (reason) => void broken.push(reason),
  });
  const say = (message: object, cut = 5): void => {
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    for (let at = 0; at < bytes.length; at += cut) connection.take(bytes.subarray(at, at + cut));
  };
  return { connection, written, broken, say };
};

describe('a connection', () => {
  test('joins lines that are cut anywhere, and leaves out those that are no message', async () => {
    const noticed: string[] = [];
    const { connection, say, written } = play({ onNotice: (method) => void noticed.push(method) });
    connection.take(Buffer.from('hello\n[]\n'));
    say({ method: 'one' });
    const asked = connection.request('ask', { a: 1 });
    say({ id: 1, result: { b: 2 } });
    expect(await asked).toEqual({ b: 2 });
    expect(noticed).toEqual(['one']);
    expect(written).toEqual([{ jsonrpc: '2.0', id: 1, method: 'ask', params: { a: 1 } }]);
  });

  test('fails a request of an agent that ends before the request is written, and nothing else', async () => {
    const unheard: unknown[] = [];
    const note = (reason: unknown) => void unheard.push(reason);
    process.on('unhandledRejection', note);
    const writing = Promise.withResolvers<void>();
    const connection = createAcpConnection({
      write: () => writing.promise,
      onNotice: () => undefined,
      room: ready,
      onRequest: async () => undefined,
      onBroken: () => undefined,
    });
    const asked = connection.request('initialize', {});
    connection.close('acp-agent ended (127)');
    await new Promise((resolve) => setImmediate(resolve));
    writing.resolve();
    await expect(asked).rejects.toThrow('acp-agent ended (127)');
    process.off('unhandledRejection', note);
    expect(unheard).toEqual([]);
  });

  test('answers the agent’s requests, also with an error', async () => {
    const { say, written, connection } = play();
    say({ id: 'x', method: 'known', params: {} });
    say({ id: 7, method: 'fs/read_text_file' });
    const asked = connection.request('ask', {});
    say({ id: 1, result: null });
    await asked;
    expect(written).toContainEqual({ jsonrpc: '2.0', id: 'x', result: { is: 'done' } });
    expect(written).toContainEqual(
      expect.objectContaining({ id: 7, error: expect.objectContaining({ code: -32_601 }) }),
    );
  });

  test('fails what waits when the agent refuses, ends, or is late', async () => {
    const { say, connection } = play();
    const refused = connection.request('ask', {});
    say({ id: 1, error: { code: 1, message: 'no' } });
    await expect(refused).rejects.toThrow('no');
    await expect(connection.request('ask', {}, 1)).rejects.toThrow('it did not answer ask in time');
    const left = connection.request('ask', {});
    connection.close('it ended');
    await expect(left).rejects.toThrow('it ended');
    await expect(connection.request('ask', {})).rejects.toThrow('it no longer runs');
  });

  test('is given up for a line without end, and for more than can be heard', () => {
    const long = play();
    for (let piece = 0; piece < 5; piece += 1) long.connection.take(Buffer.alloc(1_048_576, 'x'));
    expect(long.broken).toEqual(['it wrote a line that is too long']);
    const ahead = play({ room: never });
    for (let line = 0; line < 10; line += 1)
      ahead.say({ method: 'x'.repeat(200), params: 'y'.repeat(1_000_000) }, 2_000_000);
    expect(ahead.broken).toEqual(['it says more than can be heard']);
  });

  test('is given up for more requests than can wait for their answers', async () => {
    const { say, broken } = play();
    const ask = async (count: number): Promise<void> => {
      for (let id = 0; id < count; id += 1) say({ id, method: 'endless' });
      await new Promise((resolve) => setImmediate(resolve));
    };
    await ask(900);
    expect(broken).toEqual([]);
    await ask(200);
    expect(broken).toEqual(['it says more than can be heard']);
  });

  test('forgets requests that were answered', async () => {
    const { say, broken } = play();
    for (let round = 0; round < 20; round += 1) {
      for (let id = 0; id < 100; id += 1) say({ id, method: 'known' });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(broken).toEqual([]);
  });
});

const read = (update: object): SessionUpdate => sessionUpdate.parse({ sessionId: 's', update }).update;
const text = (said: string, more: object = {}) =>
  read({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said }, ...more });
const call = (status: string, more: object = {}) =>
  read({ sessionUpdate: 'tool_call_update', toolCallId: 'c', status, ...more });

test('text is whole when something else comes, and each answer is a step', () => {
  const facts = createAcpFacts('/workspace');
  expect(facts.read(text('Hel'))).toMatchObject({ facts: [], deltas: [{ offset: 0, text: 'Hel' }] });
  expect(facts.read(text('lo'))).toMatchObject({ facts: [], deltas: [{ offset: 3, text: 'lo' }] });
  const begun = read({
    sessionUpdate: 'tool_call',
    toolCallId: 'c',
    title: 'Edit',
    kind: 'edit',
    status: 'pending',
  });
  expect(facts.read(begun).facts).toMatchObject([{ type: 'text', text: 'Hello' }]);
  expect(facts.ask('p', { toolCallId: 'c', rawInput: { path: 'a' } } as never)).toEqual([
    { type: 'asked', permission: 'p', name: 'edit', args: { path: 'a', title: 'Edit' } },
  ]);
  expect(facts.read(call('in_progress')).facts).toMatchObject([{ type: 'call', callId: 'c', name: 'edit' }]);
  const content = [
    { type: 'content', content: { type: 'text', text: 'edited' } },
    { type: 'diff', path: '/workspace/a.txt', newText: '' },
    { type: 'terminal', terminalId: 't' },
  ];
  expect(facts.read(call('completed', { content })).facts).toMatchObject([
    { type: 'output', text: 'edited', isError: false },
    { type: 'file', path: 'a.txt' },
    { type: 'step' },
  ]);
  expect(facts.read(call('completed')).facts).toEqual([]);
  expect(facts.ask('q', { toolCallId: 'c', rawInput: { path: 'b' } } as never)).toEqual([
    { type: 'asked', permission: 'q', name: 'edit', args: { path: 'b' } },
  ]);
  expect(facts.rest()).toEqual([]);
  facts.read(text('One', { messageId: '1' }));
  expect(facts.read(text('Two', { messageId: '2' })).facts).toMatchObject([{ type: 'text', text: 'One' }]);
  expect(facts.rest()).toMatchObject([{ type: 'text', text: 'Two' }, { type: 'step' }]);
});

test('an agent whose open calls hold too much is given up, and one that ends them is not', () => {
  const rawInput = { text: 'x'.repeat(1_048_576) };
  const say = (facts: ReturnType<typeof createAcpFacts>, toolCallId: string, status: string) =>
    facts.read(read({ sessionUpdate: 'tool_call', toolCallId, status, rawInput }));
  const open = createAcpFacts('/workspace');
  for (let round = 0; round < 20; round += 1) say(open, 'same', 'pending');
  for (let at = 0; at < 6; at += 1) say(open, `c${at}`, 'in_progress');
  for (let time = 0; time < 2; time += 1)
    expect(() => say(open, 'more', 'pending')).toThrow('it has more calls open than can be heard');
  expect(open.ask('p', { toolCallId: 'small' })).toHaveLength(1);
  const ending = createAcpFacts('/workspace');
  for (let at = 0; at < 20; at += 1) say(ending, `c${at}`, 'completed');
});

test('updates that are not known are left out', () => {
  const update = { sessionUpdate: 'plan', entries: [] };
  expect(sessionUpdate.safeParse({ sessionId: 's', update }).success).toBe(false);
});

test('a decision is about one call, where the agent offers that', () => {
  const options = ['allow_always', 'allow_once', 'reject_always'].map((kind) => ({ optionId: kind, kind }));
  expect(optionFor(options, true)?.optionId).toBe('allow_once');
  expect(optionFor(options, false)?.optionId).toBe('reject_always');
  expect(optionFor([], true)).toBeUndefined();
});

test('the mode decides which kinds are asked about', () => {
  const kinds = ['read', 'edit', 'execute', undefined];
  const asked = (asks: Parameters<typeof isAsked>[0]) => kinds.map((kind) => isAsked(asks, kind));
  expect(asked('nothing')).toEqual([false, false, false, false]);
  expect(asked('commands')).toEqual([false, false, true, true]);
  expect(asked('changes')).toEqual([false, true, true, true]);
  expect(asked('everything')).toEqual([true, true, true, true]);
});

test('its model is reached at the broker, with any key', () => {
  expect(modelVariables('openai', 'm')).toMatchObject({
    OPENAI_BASE_URL: 'http://127.0.0.1:19999/openai/v1',
    OPENAI_MODEL: 'm',
  });
  expect(modelVariables('gemini', 'm')).toMatchObject({
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:19999/gemini',
  });
  expect(modelVariables('bedrock', 'm')).toBeUndefined();
});
