/** Two hundred turns that wait for a person for a day, in virtual time: what they cost once their sandboxes have stopped. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, TurnId, WorkspaceId } from '../../domain/ids.ts';
import { nextLook } from '../../domain/turn/pending-work.ts';
import type { TurnState } from '../../domain/turn/turn.ts';
import { finishStop } from '../sandbox/stop-sandbox.ts';
import { sweep } from './sweep-in-rounds.ts';

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const lifetimes = {
  idleMs: 15 * minuteMs,
  executionIdleMs: 15 * minuteMs,
  historyMs: 30 * dayMs,
  pausedMs: 30 * dayMs,
  waitStopMs: 2 * minuteMs,
};
const turns = 200;
const beganAt = 1_000_000;

const waiting: TurnState = {
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  usage: { inputTokens: 0, outputTokens: 0 },
  policy: { mode: 'ask', grants: [] },
  calls: [
    {
      ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true, status: 'pending' },
      ...{ digest: 'd', askedAt: 'then' },
    },
  ],
};

type Quiet = ReturnType<typeof openQuietPorts>;

const begin = async ({ ports, clock }: Quiet): Promise<WorkspaceId> => {
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { workspace } = made;
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(workspace, 1, { taskArn: workspace, address: 'http://10.0.0.1' });
  await ports.workspaces.markReady(workspace, 1, { at: clock.now });
  await ports.inbox.accept(made, message('m', clock.now), inboxLimits);
  const session = (await ports.sessions.get(made.id)) ?? made;
  await ports.turns.commit({
    ...{ session, version: 0, state: waiting, at: clock.now, log: [], history: [], patch: { waits: true } },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, release: true, wakes: false },
    dueAt: nextLook(waiting, clock.now, lifetimes),
  });
  return workspace;
};

/** A sweep and what it invokes: sandboxes that it marked are saved and stopped at once. */
const minute = async ({ ports, invoked }: Quiet): Promise<readonly string[]> => {
  await sweep(ports, { lifetimes });
  const asked = invoked.splice(0);
  for (const stop of asked.filter((what) => what.startsWith('stop '))) {
    const id = stop.slice('stop '.length) as WorkspaceId;
    const workspace = await ports.workspaces.get(id);
    if (workspace !== undefined) await finishStop(ports, workspace);
    await ports.workspaces.markStopped(id, 1, { reason: 'idle', at: ports.world.now() });
  }
  // The stops of their tasks belong to them.
  invoked.splice(0);
  return asked;
};

test('turns that wait for a day cost no sandbox and no function after the stop, beyond the sweeps', async () => {
  const quiet = openQuietPorts();
  const { ports, clock, takeRequests } = quiet;
  const workspaces: WorkspaceId[] = [];
  while (workspaces.length < turns) workspaces.push(await begin(quiet));
  const empty = openQuietPorts();
  await sweep(empty.ports, { lifetimes });
  const ofAnEmptySweep = empty.takeRequests();
  quiet.invoked.splice(0);

  const after = { sweeps: 0, functions: 0, requests: 0 };
  let stops = 0;
  // A sweep a minute until all have stopped, then fewer: each costs the same.
  for (let at = minuteMs; at <= dayMs; at += stops === turns ? 10 * minuteMs : minuteMs) {
    clock.now = beganAt + at;
    const areStopped = stops === turns;
    takeRequests();
    const asked = await minute(quiet);
    stops += asked.filter((what) => what.startsWith('stop ')).length;
    if (!areStopped) continue;
    const requests = takeRequests();
    after.sweeps += 1;
    after.functions += asked.length;
    after.requests += requests.length;
  }

  const sandboxes = (await ports.workspaces.getMany(workspaces)).map(({ sandbox }) => sandbox);
  const lived = sandboxes.map((sandbox) => (sandbox?.stoppedAt ?? Number.NaN) - (sandbox?.readyAt ?? 0));
  expect(sandboxes.map((sandbox) => [sandbox?.state, sandbox?.generation])).toEqual(
    Array(turns).fill(['stopped', 1]),
  );
  // The sandboxes of all live as long as the time for waiting, and a sweep.
  expect(Math.max(...lived)).toBeLessThanOrEqual(lifetimes.waitStopMs + minuteMs);
  expect(after.sweeps).toBeGreaterThanOrEqual(140);
  expect({ functions: after.functions, requests: after.requests }).toEqual({
    functions: 0,
    requests: after.sweeps * ofAnEmptySweep.length,
  });
}, 120_000);
