import { expect, test } from 'vitest';
import type { Frame } from '#sdk/frames.ts';
import { describeArgs, makeTurnView } from './turn-view.ts';

const frame = (type: Frame['type'], data: Readonly<Record<string, unknown>>) =>
  ({ type, sessionId: 's', seq: null, at: '', data }) as unknown as Frame;
const printed = (...frames: readonly Frame[]): string => {
  const { take } = makeTurnView({ dim: (text) => text, pointsAtOutput: true });
  return frames.map(take).join('');
};
const thought = (offset: number, text: string) => frame('reasoning_delta', { messageId: 'm', offset, text });
const delta = (offset: number, text: string) => frame('delta', { messageId: 'm', offset, text });
const whole = (text: string) => frame('message', { messageId: 'm', role: 'assistant', text });

test('a text is printed once, however much of it was received before', () => {
  expect(printed(delta(0, 'Hel'), delta(0, 'Hello'), whole('Hello you'))).toBe('Hello you\n');
  expect(printed(delta(0, 'Hel'), delta(4, 'o you'), whole('Hello you'))).toBe('Hello you\n');
  expect(printed(whole('Hello\n'), frame('completion', { stopReason: 'end_turn' }))).toBe('Hello\n');
  expect(printed(frame('message', { messageId: 'u', role: 'user', text: 'mine' }))).toBe('');
});

test('thoughts are printed once, and the answer begins a line', () => {
  const thoughts = frame('reasoning', { messageId: 'm', text: 'let me see' });
  expect(printed(thought(0, 'let '), thought(4, 'me'), delta(0, 'Hi'), thoughts, whole('Hi'))).toBe(
    'let me\nHi\n see\n',
  );
  expect(printed(thought(0, 'let me see'), thoughts, whole('Hi'))).toBe('let me see\nHi\n');
});

test('a sequence that is cut between two deltas does not reach the terminal', () => {
  expect(printed(delta(0, 'a\x1b]0;ev'), delta(7, 'il\x07b'), whole('a\x1b]0;evil\x07b'))).toBe('ab\n');
});

test('a call is shown with its output, live or at its end, not twice', () => {
  const call = frame('tool:call', { callId: 'c', name: 'execute_command', args: { command: 'make' } });
  const output = frame('tool:output', { callId: 'c', content: [{ type: 'text', text: 'ok\nExit code: 2' }] });
  const live = frame('tool:progress', { callId: 'c', stream: 'stdout', offset: 0, text: 'ok\n' });
  expect(printed(call, output)).toBe('> execute_command make\nok\nExit code: 2\n');
  expect(printed(call, live, output)).toBe('> execute_command make\nok\nExit code: 2\n');
});

test('an answer that repeats a long output points at it', () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n');
  const live = frame('tool:progress', { callId: 'c', stream: 'stdout', offset: 0, text: `${lines}\n` });
  const output = frame('tool:output', { callId: 'c', content: [{ type: 'text', text: `${lines}\n` }] });
  const answer = `seq gave 40 lines:\n\n\`\`\`output\n${lines}\n\`\`\``;
  expect(printed(live, output, delta(0, answer.slice(0, 60)), whole(answer))).toBe(
    `${lines}\nseq gave 40 lines:\n\n(the output above)\n`,
  );
  expect(printed(whole(answer))).toBe(`${answer}\n`);
});

test('output without a line end is separated from the answer', () => {
  const live = frame('tool:progress', { callId: 'c', stream: 'stdout', offset: 0, text: 'ok' });
  const output = frame('tool:output', { callId: 'c', content: [{ type: 'text', text: 'ok' }] });
  expect(printed(live, output, whole('done'))).toBe('ok\ndone\n');
});

test('the end of a sandbox and the agent that goes on in another one are told', () => {
  expect(
    printed(
      frame('system', { kind: 'sandbox_stopped', reason: 'its task was not found' }),
      frame('system', { kind: 'runtime_restarted', runtime: 'opencode', starts: 2 }),
    ),
  ).toBe(
    '(the sandbox stopped: its task was not found)\n(the agent continues in a new sandbox with the last saved files)\n',
  );
});

test('the decider of a call is shown in one line', () => {
  const decided = (data: object) =>
    printed(frame('tool:decided', { callId: 'c', name: 'execute_command', digest: 'd', ...data }));
  expect([
    decided({ approved: true, by: { kind: 'person', id: 'u-1', name: 'A\x1b[2Jnn' } }),
    decided({ approved: true, by: { kind: 'token', id: 't-1' }, editedDigest: 'e' }),
    decided({ approved: true, by: { kind: 'token', id: 't-1', name: 'ci' } }),
    decided({ approved: true, by: { kind: 'grant', id: 'g-1' } }),
    decided({ approved: true, by: { kind: 'policy', id: 'auto' } }),
    decided({ approved: false, by: { kind: 'person', id: 'u-1' }, reason: 'not now' }),
  ]).toEqual([
    'execute_command approved by Ann\n',
    'execute_command changed and approved by the token t-1\n',
    'execute_command approved by the token ci\n',
    'execute_command approved by the grant g-1\n',
    'execute_command approved by the mode auto\n',
    'execute_command rejected by u-1: not now\n',
  ]);
});

test('an error and an early end are shown', () => {
  expect(
    printed(
      delta(0, 'half'),
      frame('agent:error', { code: 'provider_overloaded', message: 'busy' }),
      frame('completion', { stopReason: 'error' }),
    ),
  ).toBe('half\n! busy (provider_overloaded)\n(error)\n');
});

test('the end of a budget comes with the commands that show and change it', () => {
  const shown = printed(frame('completion', { stopReason: 'budget_exceeded' }));
  expect(shown).toContain('sallyport sessions tree');
  expect(shown).toContain('--max-cost');
});

test('a pending call has no invisible characters', () => {
  expect(describeArgs({ command: 'ls\x1b]0;; rm -rf /\x07' })).toBe('ls⟦U+001B⟧]0;; rm -rf /⟦U+0007⟧');
  expect(describeArgs({ code: 'a = 1\nprint(a)' })).toBe('code:\n  a = 1\n  print(a)');
  expect(describeArgs({ path: 'a', content: 'b\n' })).toBe('{"path":"a","content":"b\\n"}');
  expect(describeArgs(undefined)).toBe('{}');
  expect(describeArgs({ command: 'make', background: true, timeout: 9 })).toBe(
    'make (background true, timeout 9)',
  );
  expect(describeArgs({ action: 'output', process_id: '1-a', offset: 5 })).toBe(
    'output (process_id 1-a, offset 5)',
  );
  expect(describeArgs({ action: 'input', process_id: '1-a', text: 'a b' })).toBe(
    '{"action":"input","process_id":"1-a","text":"a b"}',
  );
});
