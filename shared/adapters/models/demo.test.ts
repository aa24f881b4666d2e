import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ThinkingLevel } from '#shared/domain/model.ts';
import type { RequestedCall } from '#shared/domain/requested-call.ts';
import { noticeId } from '#shared/domain/turn/saved-files.ts';
import { demoProvider } from './demo.ts';

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const calls = (...commands: string[]): RequestedCall[] =>
  commands.map((command, index) => ({
    callId: `c${index}` as CallId,
    name: 'execute_command',
    args: { command },
  }));
const assistant = (asked: readonly RequestedCall[], text = ''): HistoryMessage => ({
  role: 'assistant',
  messageId: 'a' as MessageId,
  text,
  calls: asked,
});
const result = (
  callId: string,
  text: string,
  outcome: 'completed' | 'failed' | 'rejected' = 'completed',
): HistoryMessage => ({ role: 'tool', callId: callId as CallId, name: 'execute_command', text, outcome });

const answer = async (
  history: readonly HistoryMessage[],
  thinking?: ThinkingLevel,
  outputTokensMax = 8192,
): Promise<ModelChunk[]> => {
  const level = thinking === undefined ? {} : { thinking };
  const request = { model: 'demo', system: '', tools: [], history, outputTokensMax, ...level };
  return Array.fromAsync(demoProvider.stream(request, new AbortController().signal));
};
const textOf = (chunks: readonly ModelChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('');

test('each line of a script is one call, in order, without an id, and the answer waits for tools', async () => {
  expect(await answer([user('$ echo a\n$ echo b')])).toEqual([
    { type: 'call', name: 'execute_command', args: { command: 'echo a' } },
    { type: 'call', name: 'execute_command', args: { command: 'echo b' } },
    { type: 'end', end: 'tool_use', usage: { inputTokens: 5, outputTokens: 28 } },
  ]);
});

test('a bound of the answer below the default ends its text, and leaves out the calls behind it', async () => {
  const long = 'ü😀'.repeat(10_000);
  const history = [user('$ seq'), assistant(calls('seq')), result('c0', long)];
  const bounded = await answer(history, undefined, 256);
  expect(bounded.at(-1)).toMatchObject({ end: 'max_tokens', usage: { outputTokens: 256 } });
  expect(textOf(bounded).isWellFormed()).toBe(true);
  const unbounded = await answer(history);
  expect(unbounded.at(-1)).toMatchObject({ end: 'end_turn' });
  expect(textOf(unbounded)).toContain(long);
  const script = Array.from({ length: 30 }, (_, index) => `$ echo the line ${index}`).join('\n');
  const asked = await answer([user(script)], undefined, 256);
  const { length } = asked.filter(({ type }) => type === 'call');
  expect([length > 0, length < 30]).toEqual([true, true]);
  expect(asked.at(-1)).toMatchObject({ end: 'max_tokens' });
});

test('any other message is answered with an explanation', async () => {
  const chunks = await answer([user('Hello!')]);
  expect(textOf(chunks)).toContain('demo provider, no language model');
  expect(textOf(chunks)).toContain('`$ <command>` runs a command');
  expect(chunks.at(-1)).toEqual({
    type: 'end',
    end: 'end_turn',
    usage: { inputTokens: 2, outputTokens: Math.ceil(textOf(chunks).length / 4) },
  });
});

test('a notice of the platform is repeated after the results that it follows', async () => {
  const notice: HistoryMessage = {
    role: 'user',
    messageId: noticeId('a' as MessageId),
    text: 'Notice from the platform: files are lost.',
  };
  const asked = assistant(calls('echo a'));
  const ran = [user('$ echo a'), asked, result('c0', 'a'), assistant([], '`echo a` gave `a`.'), notice];
  expect(textOf(await answer(ran))).toMatch(/gave `a`\.\n\nNotice from the platform: files are lost\.$/);
  expect(textOf(await answer([user('Hello!'), assistant([], 'hi'), notice]))).toMatch(/files are lost\.$/);
});

const thoughtsOf = (chunks: readonly ModelChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'reasoning' ? chunk.text : '')).join('');

test('at a level of thinking it says how it read the message, before anything else', async () => {
  const script = [user('think twice\n$ echo a')];
  const asked = await answer(script, 'low');
  expect(thoughtsOf(asked)).toBe(
    'twice\nThe message asks for these calls, in this order:\n- execute_command `$ echo a`',
  );
  expect(asked.findIndex(({ type }) => type === 'call')).toBeGreaterThan(
    asked.findLastIndex(({ type }) => type === 'reasoning'),
  );
  const answered = await answer([...script, assistant(calls('echo a')), result('c0', 'a')], 'low');
  expect(thoughtsOf(answered)).toBe('Calls that have ended: 1. The answer says what they gave.');
  expect(thoughtsOf(await answer([user('hello')], 'high'))).toContain('asks for no call');
});

test('without a level it shows the thoughts of the script alone, and none when thinking is off', async () => {
  expect(thoughtsOf(await answer([user('think twice\n$ echo a')]))).toBe('twice');
  expect(thoughtsOf(await answer([user('think twice\n$ echo a')], 'off'))).toBe('');
});

test('only the newest message is a script', async () => {
  const chunks = await answer([
    user('$ echo a'),
    assistant(calls('echo a')),
    result('c0', 'a'),
    assistant([], 'said'),
    user('thanks'),
  ]);
  expect(chunks.some(({ type }) => type === 'call')).toBe(false);
  expect(textOf(chunks)).toMatch(/^This is the demo provider/);
});

test('the answer says each result, and which calls were rejected or failed', async () => {
  const chunks = await answer([
    user('$ echo a\n$ echo b\n$ false'),
    assistant(calls('echo a', 'echo b', 'false')),
    // In the order they ended; the answer speaks of them in the order they were asked.
    result('c1', 'The user rejected this call.', 'rejected'),
    result('c2', 'Tool execute_command failed: no sandbox', 'failed'),
    result('c0', 'a\n'),
  ]);
  expect(textOf(chunks)).toBe(
    [
      'execute_command `$ echo a` gave `a`.',
      'execute_command `$ echo b` was rejected: `The user rejected this call.`.',
      'execute_command `$ false` failed: `Tool execute_command failed: no sandbox`.',
    ].join('\n\n'),
  );
});

const saidOf = async (text: string): Promise<string> =>
  textOf(await answer([user('$ x'), assistant(calls('x')), result('c0', text)]));

test('a short result stands in the sentence; a longer one in a fence that no line of it closes', async () => {
  expect(await saidOf('Linux\n')).toBe('execute_command `$ x` gave `Linux`.');
  expect(await saidOf('\n')).toBe('execute_command `$ x` gave no output.');
  expect(await saidOf('a\nb\n')).toBe('execute_command `$ x` gave 2 lines:\n\n```output\na\nb\n```');
  expect(await saidOf('# a\n````\nb')).toBe(
    'execute_command `$ x` gave 3 lines:\n\n`````output\n# a\n````\nb\n`````',
  );
  expect(await saidOf('say `a`')).toBe('execute_command `$ x` gave 1 line:\n\n```output\nsay `a`\n```');
});

test('calls that the turn left out are reported', async () => {
  const chunks = await answer([user('$ a\n$ b\n$ c'), assistant(calls('a')), result('c0', 'ok')]);
  expect(textOf(chunks)).toContain('2 more calls of this message were left out');
});

test('an answer streams word by word, and no chunk splits a code point', async () => {
  const texts = fc.array(
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(' ', '\n', '😀'.repeat(99))),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (pieces) => {
      const text = pieces.join('');
      const chunks = await answer([user('$ x'), assistant(calls('x')), result('c0', text)]);
      expect(textOf(chunks)).toMatch(/^execute_command `\$ x` gave /);
      if (text.trim() !== '') expect(textOf(chunks)).toContain(text.replace(/\n$/, ''));
      for (const chunk of chunks)
        if (chunk.type === 'text') expect(chunk.text.isWellFormed() || !text.isWellFormed()).toBe(true);
    }),
  );
  expect(textOf((await answer([user('Hello!')])).slice(0, 3))).toBe('This is the ');
});

test('results over the limit of an answer get an equal share each, and the gap is marked', async () => {
  const asked = calls(...Array.from({ length: 32 }, (_, index) => `cat ${index}`));
  const results = asked.map(({ callId }, index) => result(callId, `${index}<${'€'.repeat(50_000)}>${index}`));
  const script = asked.map(({ args }) => `$ ${String(args['command'])}`).join('\n');
  const text = textOf(await answer([user(script), assistant(asked), ...results]));
  expect(Buffer.byteLength(text)).toBeLessThan(300 * 1024);
  expect(text).toContain('characters left out');
  for (const index of asked.keys()) expect(text).toContain(`${index}<€`);
});

test('an aborting caller gets its own reason', async () => {
  const stop = new AbortController();
  const request = { model: 'demo', system: '', tools: [], history: [user('Hello!')], outputTokensMax: 1000 };
  const chunks = demoProvider.stream(request, stop.signal)[Symbol.asyncIterator]();
  await chunks.next();
  stop.abort(new Error('enough'));
  await expect(chunks.next()).rejects.toThrow('enough');
});

test('images that the user showed are described', async () => {
  const shown: HistoryMessage = {
    ...{ role: 'user', messageId: 'm' as MessageId, text: 'look' },
    images: [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }],
  };
  expect(textOf(await answer([shown]))).toContain('image/png, 8 bytes');
});
