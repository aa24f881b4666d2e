/** A child as it is made of its parent: every field of a session is the parent's, its request's, or begins anew. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { SessionId, WorkspaceId } from '../../../domain/ids.ts';
import { type Session, totalsOf } from '../../../domain/session.ts';
import { sweep } from '../../janitor/sweep-in-rounds.ts';
import { newChild } from './new-child.ts';
import { spawnChild } from './spawn-child.ts';

const limits = { recursionDepthMax: 3, agentsPerSessionMax: 10, costUsdMax: 10 };

/** Settings of a parent that its child has as well. */
const shared = {
  effects: { rules: [] },
  runtime: 'opencode',
  disabledTools: ['a'],
  allowedTools: ['b'],
  agent: 'reviewer',
  mcpNamespacing: 'always',
  idleMs: 1000,
  lifetimeMs: 2000,
  thinking: 'high',
  cwd: 'src',
  allowSmallerFlavor: true,
} as unknown as Partial<Session>;

/** Of the parent's own life: nothing of it is its child's. */
const own = {
  title: 'a title',
  labels: { team: 'a' },
  isArchived: true,
  isFleeting: true,
  brokeredUsd: 0.5,
  brokeredInputTokens: 1000,
  brokeredOutputTokens: 10,
  hasChildren: true,
  isSliced: true,
  slot: { turn: true },
  lastStopReason: 'error',
  waits: true,
  stall: { version: 0, fence: 0, tries: 3, since: 1 },
} as const satisfies Partial<Session>;

test('a child takes over settings of its parent, and nothing of its life', () => {
  const parent = newSession({
    ...{ ...shared, ...own, usage: { inputTokens: 5, outputTokens: 6 }, costUsd: 7, dueAt: 9, workSeq: 3 },
    ...{ runningCalls: { key: 8 }, lastSeq: 4, lease: { holder: 'h', fence: 5, until: 6 } },
    ...{ network: { allow: ['a.org'] }, trialOf: 'trial' as SessionId, status: 'running' },
  });
  const { owner, project, kind, provider, model } = parent;
  const id = 'child' as SessionId;
  const workspace = 'fork' as WorkspaceId;
  const tree = { root: parent.id, parent: parent.id };
  const child = newChild(parent, {
    ...{ id, workspace, limits, tree, policy: { mode: 'auto', grants: [] } },
    ...{ sandbox: { template: 'node', flavor: 'small', isOther: true }, environment: undefined },
    ...{ now: 10, dueAt: 20 },
  });
  expect(child).toEqual({
    ...{ ...shared, owner, project, kind, provider, model, id, workspace, limits, tree },
    ...{ status: 'created', template: 'node', flavor: 'small', approvals: 'auto', grants: [] },
    ...{ usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0, depth: 1, runningCalls: {} },
    ...{ createdAt: 10, lastActiveAt: 10, dueAt: 20, lastSeq: -1, workSeq: 0 },
    lease: { holder: '', fence: 0, until: 0 },
  });
  expect(totalsOf(child)).toEqual({ usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 });
});

test('the message of a child whose wake-up was lost is continued, though its parent was slow to start once', async () => {
  const quiet = openQuietPorts();
  const { clock, invoked } = quiet;
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const ports = { ...quiet.ports, world: { ...quiet.ports.world, sha256 } };
  const stall = { version: 0, fence: 0, tries: 3, since: clock.now - 600_000 };
  const parent = newSession({ createdAt: clock.now, lastActiveAt: clock.now, stall });
  await ports.sessions.create(parent, { workspace: workspaceOf(parent) });
  const spawned = await spawnChild(ports, {
    ...{ parent, policy: { mode: 'auto', grants: [] }, limits, key: 'k', prompt: 'hello' },
    ...{ sandbox: { template: parent.template, flavor: parent.flavor, isOther: false } },
    ...{ workspace: 'shared', idleMs: 900_000, isUnleased: true },
  });
  if (spawned === undefined) throw new Error('no child was made');
  invoked.length = 0;
  clock.now += 60_000;
  await sweep(ports, { lifetimes: ports.lifetimes });
  const { turn, inbox } = await ports.turns.loadWork(spawned.session);
  expect({ state: turn.state.kind, waiting: inbox.length, invoked }).toEqual({
    ...{ state: 'idle', waiting: 1 },
    invoked: [`turn ${spawned.session}`],
  });
});
