import { describe, expect, test } from 'vitest';
import {
  canBecome,
  endedStatus,
  isConversation,
  isEnded,
  isOffered,
  isPausable,
  type SessionStatus,
  titleOf,
  totalsOf,
  unheldLease,
} from './session.ts';

type Cells = Record<SessionStatus, 'yes' | '-'>;

// biome-ignore format: a table is read by column
const table: Record<SessionStatus, Cells> = {
  created:   { created: 'yes', running: 'yes', idle: '-',   completed: 'yes', failed: 'yes', creating: '-',   ready: '-',   paused: '-',   error: '-',   stopped: '-' },
  running:   { created: '-',   running: 'yes', idle: 'yes', completed: 'yes', failed: 'yes', creating: '-',   ready: 'yes', paused: 'yes', error: 'yes', stopped: 'yes' },
  idle:      { created: '-',   running: 'yes', idle: 'yes', completed: 'yes', failed: 'yes', creating: '-',   ready: '-',   paused: '-',   error: '-',   stopped: '-' },
  completed: { created: '-',   running: '-',   idle: 'yes', completed: 'yes', failed: '-',   creating: '-',   ready: '-',   paused: '-',   error: '-',   stopped: '-' },
  failed:    { created: '-',   running: '-',   idle: 'yes', completed: '-',   failed: 'yes', creating: '-',   ready: '-',   paused: '-',   error: '-',   stopped: '-' },
  creating:  { created: '-',   running: 'yes', idle: '-',   completed: '-',   failed: '-',   creating: 'yes', ready: 'yes', paused: 'yes', error: 'yes', stopped: 'yes' },
  ready:     { created: '-',   running: 'yes', idle: '-',   completed: '-',   failed: '-',   creating: '-',   ready: 'yes', paused: 'yes', error: 'yes', stopped: 'yes' },
  paused:    { created: '-',   running: 'yes', idle: '-',   completed: '-',   failed: '-',   creating: '-',   ready: 'yes', paused: 'yes', error: 'yes', stopped: 'yes' },
  error:     { created: '-',   running: '-',   idle: '-',   completed: '-',   failed: '-',   creating: '-',   ready: '-',   paused: '-',   error: 'yes', stopped: 'yes' },
  stopped:   { created: '-',   running: '-',   idle: '-',   completed: '-',   failed: '-',   creating: '-',   ready: '-',   paused: '-',   error: '-',   stopped: 'yes' },
};
const statuses = Object.keys(table) as SessionStatus[];
const cells = statuses.flatMap((from) => statuses.map((to) => ({ from, to, allowed: table[from][to] })));

test.each(cells)('$from -> $to: $allowed', ({ from, to, allowed }) => {
  expect(canBecome(from, to)).toBe(allowed === 'yes');
});

test('a session that takes no more messages or calls has ended', () => {
  expect(statuses.filter(isEnded)).toEqual(['completed', 'failed', 'stopped']);
});

test('a stop completes an agent session and stops an execution session', () => {
  expect(endedStatus('agent')).toBe('completed');
  expect(endedStatus('execution')).toBe('stopped');
});

test('a lease without a holder is expired at any time and older than any fence', () => {
  expect(unheldLease).toEqual({ holder: '', fence: 0, until: 0 });
});

test('an agent session is a conversation from its first message to its end, and a child is none', () => {
  const of = (kind: 'agent' | 'execution', tree = {}) =>
    statuses.filter((status) => isConversation({ kind, status, ...tree }));
  expect(of('agent')).toEqual(['running', 'idle']);
  expect(of('agent', { tree: { root: 'r', parent: 'r' } })).toEqual([]);
  expect(of('execution')).toEqual([]);
});

test('an execution session that could have a sandbox is paused without it', () => {
  expect(statuses.filter((status) => isPausable({ kind: 'execution', status }))).toEqual([
    'running',
    'creating',
    'ready',
  ]);
  expect(isPausable({ kind: 'agent', status: 'running' })).toBe(false);
});

test('a tool is offered unless it is disabled, or is not among those allowed', () => {
  expect(isOffered({}, 'a')).toBe(true);
  expect(isOffered({ disabledTools: ['a'] }, 'a')).toBe(false);
  expect(isOffered({ allowedTools: ['a'] }, 'a')).toBe(true);
  expect(isOffered({ allowedTools: ['b'] }, 'a')).toBe(false);
  expect(isOffered({ allowedTools: ['a'], disabledTools: ['a'] }, 'a')).toBe(false);
});

test.each([
  ['List the files', 'List the files'],
  ['  Why\tdoes  the build fail?\r\nHere is its output:', 'Why does the build fail?'],
  ['\n \u200B\n\nBuild a report\n```\nwrite report.py\n```', 'Build a report'],
  ['one\rtwo', 'one'],
  ['```python\nprint(1)\n```\nnow', 'print(1)'],
  ['a\u001b[31mred\u0000', 'a [31mred'],
  ['from \u202Eright to left', 'from right to left'],
  ['x'.repeat(80), 'x'.repeat(80)],
  ['x'.repeat(81), `${'x'.repeat(79)}…`],
  ['🙂'.repeat(90), `${'🙂'.repeat(79)}…`],
  [`${'x'.repeat(78)} and more`, `${'x'.repeat(78)}…`],
  [' \n\u200B', undefined],
])('%j is called %j', (text, title) => {
  expect(titleOf(text)).toBe(title);
});

describe('the totals of a session', () => {
  const own = { usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 }, costUsd: 1 };
  const brokered = { brokeredUsd: 0.5, brokeredInputTokens: 15, brokeredOutputTokens: 1 };

  test('are those of its turns and of programs of its sandbox', () => {
    expect(totalsOf(own)).toEqual(own);
    const usage = { inputTokens: 25, outputTokens: 3, cachedInputTokens: 4 };
    expect(totalsOf({ ...own, ...brokered })).toEqual({ costUsd: 1.5, usage });
  });

  test('count once what a program that carries its turns reports itself', () => {
    const { usage, costUsd } = totalsOf({ ...own, ...brokered, runtime: 'opencode' });
    expect(usage).toEqual({ inputTokens: 15, outputTokens: 2, cachedInputTokens: 4 });
    expect(costUsd).toBe(1.5);
  });
});
