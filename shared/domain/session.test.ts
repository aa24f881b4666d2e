import { expect, test } from 'vitest';
import {
  canBecome,
  endedStatus,
  holdsSlot,
  isEnded,
  isOffered,
  type SessionStatus,
  titleOf,
  unheldLease,
} from './session.ts';

type Cells = Record<SessionStatus, 'yes' | '-'>;

// biome-ignore format: a table is read by column
const table: Record<SessionStatus, Cells> = {
  created:   { created: 'yes', running: 'yes', idle: '-',   completed: 'yes', failed: 'yes', creating: '-',   ready: '-',   error: '-',   stopped: '-' },
  running:   { created: '-',   running: 'yes', idle: 'yes', completed: 'yes', failed: 'yes', creating: '-',   ready: 'yes', error: 'yes', stopped: 'yes' },
  idle:      { created: '-',   running: 'yes', idle: 'yes', completed: 'yes', failed: 'yes', creating: '-',   ready: '-',   error: '-',   stopped: '-' },
  completed: { created: '-',   running: '-',   idle: '-',   completed: 'yes', failed: '-',   creating: '-',   ready: '-',   error: '-',   stopped: '-' },
  failed:    { created: '-',   running: '-',   idle: '-',   completed: '-',   failed: 'yes', creating: '-',   ready: '-',   error: '-',   stopped: '-' },
  creating:  { created: '-',   running: 'yes', idle: '-',   completed: '-',   failed: '-',   creating: 'yes', ready: 'yes', error: 'yes', stopped: 'yes' },
  ready:     { created: '-',   running: 'yes', idle: '-',   completed: '-',   failed: '-',   creating: '-',   ready: 'yes', error: 'yes', stopped: 'yes' },
  error:     { created: '-',   running: '-',   idle: '-',   completed: '-',   failed: '-',   creating: '-',   ready: '-',   error: 'yes', stopped: 'yes' },
  stopped:   { created: '-',   running: '-',   idle: '-',   completed: '-',   failed: '-',   creating: '-',   ready: '-',   error: '-',   stopped: 'yes' },
};
const statuses = Object.keys(table) as SessionStatus[];
const cells = statuses.flatMap((from) => statuses.map((to) => ({ from, to, allowed: table[from][to] })));

test.each(cells)('$from -> $to: $allowed', ({ from, to, allowed }) => {
  expect(canBecome(from, to)).toBe(allowed === 'yes');
});

test('a session has ended when it has no transition left', () => {
  expect(statuses.filter(isEnded)).toEqual(['completed', 'failed', 'stopped']);
});

test('a stop completes an agent session and stops an execution session', () => {
  expect(endedStatus('agent')).toBe('completed');
  expect(endedStatus('execution')).toBe('stopped');
});

test('a lease without a holder is expired at any time and older than any fence', () => {
  expect(unheldLease).toEqual({ holder: '', fence: 0, until: 0 });
});

test('an agent session holds a slot while it runs or waits for its next message', () => {
  expect(statuses.filter((status) => holdsSlot({ kind: 'agent', status }))).toEqual(['running', 'idle']);
});

test('an execution session holds a slot from its creation to its stop or error', () => {
  expect(statuses.filter((status) => holdsSlot({ kind: 'execution', status }))).toEqual([
    'running',
    'creating',
    'ready',
  ]);
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
  ['  Why\n\tdoes the\r\nbuild fail?  ', 'Why does the build fail?'],
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
