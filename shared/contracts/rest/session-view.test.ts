/** The times of a session: it expires ahead, whatever rests by then, and its uptime ends with it. */
import { expect, test } from 'vitest';
import type { SandboxRecord } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import {
  newExecution,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { sessionView } from './session-view.ts';

const lifetimes = {
  idleMs: 900,
  executionIdleMs: 600,
  historyMs: 86_400,
  pausedMs: 604_800,
  waitStopMs: 120,
};

const lastActiveAt = 10_000;
const later = lastActiveAt + 5000;

type Seen = { readonly session: Session; readonly sandbox?: SandboxRecord };

const expiry = ({ session, sandbox }: Seen, now: number): number => {
  const workspace = { ...workspaceOf(session), ...(sandbox === undefined ? {} : { sandbox }) };
  const shown = sessionView(session, { ...{ turn: undefined, workspace, now, lifetimes }, usdMax: 1 });
  return Date.parse(shown.expiresAt) - lastActiveAt;
};

const agent = (change: Partial<Session>) => newSession({ lastActiveAt, ...change });
const execution = (change: Partial<Session>) => newExecution({ lastActiveAt, ...change });
const sandbox = (change: Partial<SandboxRecord> = {}) =>
  newSandbox({ state: 'ready', readyAt: lastActiveAt, ...change });

test.each<[string, Seen, number]>([
  ['whose sandbox is ready', { session: execution({ status: 'ready' }), sandbox: sandbox() }, 600],
  [
    'with an idle time of its own',
    { session: execution({ status: 'ready', idleMs: 50 }), sandbox: sandbox() },
    50,
  ],
  ['of an agent whose sandbox is ready', { session: agent({ status: 'idle' }), sandbox: sandbox() }, 900],
  [
    'whose sandbox started late',
    { session: execution({ status: 'ready' }), sandbox: sandbox({ readyAt: 10_300 }) },
    900,
  ],
  [
    'with a call that runs',
    { session: execution({ status: 'running', runningCalls: { call: 13_000 } }), sandbox: sandbox() },
    3000,
  ],
  [
    'or the lifetime of its sandbox',
    { session: execution({ status: 'ready' }), sandbox: sandbox({ lifetimeMs: 70 }) },
    70,
  ],
  [
    'that waits for a person',
    { session: agent({ status: 'running', waits: true }), sandbox: sandbox() },
    120,
  ],
])('a session %s expires with its idle time', (_, seen, expected) => {
  expect(expiry(seen, lastActiveAt)).toBe(expected);
});

test.each<[string, Seen, number]>([
  [
    'without a sandbox',
    { session: execution({ status: 'ready' }), sandbox: sandbox({ state: 'stopped', lifetimeMs: 10 }) },
    605_400,
  ],
  ['paused', { session: execution({ status: 'paused' }), sandbox: sandbox({ state: 'stopped' }) }, 605_400],
  [
    'of an agent that rests',
    { session: agent({ status: 'idle' }), sandbox: sandbox({ state: 'stopped' }) },
    86_400,
  ],
  ['of an agent that was never used', { session: agent({ status: 'created' }) }, 86_400],
  [
    'of an agent that waits without a sandbox',
    { session: agent({ status: 'running', waits: true }) },
    86_400,
  ],
  [
    'that was stopped',
    { session: execution({ status: 'stopped' }), sandbox: sandbox({ state: 'stopped' }) },
    86_400,
  ],
  [
    'that a program keeps',
    { session: execution({ status: 'ready' }), sandbox: sandbox({ hasProcesses: true }) },
    5000,
  ],
])('of a session %s the time lies ahead long after its idle time', (_, seen, expected) => {
  expect(expiry(seen, later)).toBe(expected);
});

test.each([
  ['running', 100],
  ['idle', 100],
  ['completed', 10],
  ['failed', 10],
  ['stopped', 10],
] as const)('the uptime of a session that is %s is %i s', (status, seconds) => {
  const session = agent({ status, createdAt: lastActiveAt - 10_000 });
  const now = lastActiveAt + 90_000;
  const workspace = workspaceOf(session);
  const shown = sessionView(session, { ...{ turn: undefined, workspace, now, lifetimes }, usdMax: 1 });
  expect(shown.uptimeSeconds).toBe(seconds);
});
