import { expect, test } from 'vitest';
import { idleSince, type SandboxUse } from './idle-sandbox.ts';
import type { SessionId } from './ids.ts';

const now = 1000;
const resting: SandboxUse['sessions'][number] = {
  status: 'idle',
  lastActiveAt: 300,
  runningCalls: {},
  lease: { holder: '', fence: 1, until: 0 },
};
const ready: SandboxUse = {
  sandbox: { state: 'ready', readyAt: 100 },
  sessions: [resting],
};
const withSession = (change: Partial<SandboxUse['sessions'][number]>): SandboxUse => ({
  ...ready,
  sessions: [resting, { ...resting, ...change }],
});
const tree = { root: 'r' as SessionId, parent: 'r' as SessionId };

test.each<[string, SandboxUse, number | undefined]>([
  ['nothing runs in it', ready, 300],
  ['it was used last by the other session', withSession({ lastActiveAt: 700 }), 700],
  ['it was never used', { ...ready, sessions: [] }, 100],
  ['it starts', { ...ready, sandbox: { state: 'starting' } }, undefined],
  ['it stops', { ...ready, sandbox: { state: 'stopping', readyAt: 100 } }, undefined],
  ['a call runs', withSession({ status: 'running', runningCalls: { a: 1001 } }), undefined],
  ['a call cannot be running any more', withSession({ status: 'running', runningCalls: { a: 1000 } }), 300],
  ['a turn works', withSession({ status: 'running', slot: { turn: true } }), undefined],
  ['a turn waits for a person', withSession({ status: 'running', slot: {} }), 300],
  ['a function holds a turn', withSession({ lease: { holder: 'f', fence: 2, until: 1001 } }), undefined],
  ['a child works', withSession({ status: 'running', tree }), undefined],
  ['a child rests', withSession({ tree }), 300],
  ['a session has ended in its call', withSession({ status: 'stopped', runningCalls: { a: 2000 } }), 300],
])('%s: idle since %s', (_what, use, since) => {
  expect(idleSince(use, now)).toBe(since);
});
