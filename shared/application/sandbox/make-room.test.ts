/** Room for a slot: a sandbox that processes or a turn with work keep never gives way, and the next idle one does. */

import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, OwnerId, TurnId } from '../../domain/ids.ts';
import { noUsage } from '../../domain/model.ts';
import { slotHolderOf } from '../../domain/slot-holder.ts';
import type { Deciding } from '../../domain/turn/turn.ts';
import type { SandboxLink } from '../../ports/sandbox.ts';
import { cancelTurn } from '../turn/requests/cancel-turn.ts';
import { makeRoom } from './make-room.ts';

/** Two sessions of one owner with a ready sandbox each. The first is idle for longer, and had a process. */
const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const owner = crypto.randomUUID() as OwnerId;
  const started = async () => {
    const session = newExecution({ owner, status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
    const { id, workspace } = session;
    const holder = slotHolderOf(session);
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
    const sandbox = newSandbox({ requestedAt: clock.now, slot: { holder, session: id } });
    await ports.workspaces.claimStart(workspace, sandbox, { known: {}, slotsMax: 2 });
    await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address: 'http://10.42.0.9:8080' });
    await ports.workspaces.markReady(workspace, 1, { at: clock.now });
    clock.now += 1000;
    return session;
  };
  const [first, second] = [await started(), await started()];
  await ports.workspaces.recordProcesses(first.workspace, 1);
  const request = { holder: slotHolderOf(first) };
  const stopping = async () => {
    const found = await ports.workspaces.getMany([first.workspace, second.workspace]);
    return found.filter(({ sandbox }) => sandbox?.state === 'stopping').map(({ id }) => id);
  };
  return { ...quiet, first, second, request, stopping };
};

const one = {
  ...{ processId: crypto.randomUUID(), command: 'sleep 60', state: 'running', pid: 7, startedAt: 1 },
  ...{ isPty: false, attached: 0 },
};
const answering = (processes: readonly object[]): SandboxLink => ({
  fetch: async () => Response.json({ processes }),
});

test.each<[string, SandboxLink, 'first' | 'second']>([
  ['with a process that runs stays', answering([one]), 'second'],
  ['with a process that has ended gives way', answering([{ ...one, state: 'exited', endedAt: 2 }]), 'first'],
  ['with an attached terminal stays', answering([{ ...one, isPty: true, attached: 1 }]), 'second'],
  ['with a terminal that nobody looks at gives way', answering([{ ...one, isPty: true }]), 'first'],
  ['that does not answer stays', { fetch: () => Promise.reject(new Error('silent')) }, 'second'],
])('a sandbox %s', async (_what, link, given) => {
  const { ports, request, stopping, ...sessions } = await open();
  expect(await makeRoom({ ...ports, link }, request)).toBe(true);
  expect(await stopping()).toEqual([sessions[given].workspace]);
});

test('L5: a sandbox in which a client runs code in the session of an agent stays until that has ended', async () => {
  const { ports, clock } = openQuietPorts();
  const session = newSession({ status: 'idle', createdAt: clock.now, lastActiveAt: clock.now });
  const { id, workspace } = session;
  const holder = slotHolderOf(session);
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const sandbox = newSandbox({ requestedAt: clock.now, slot: { holder, session: id } });
  await ports.workspaces.claimStart(workspace, sandbox, { known: {}, slotsMax: 2 });
  await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address: 'http://10.42.0.9:8080' });
  await ports.workspaces.markReady(workspace, 1, { at: clock.now });
  /** Calls at each look. */
  const evicts = (...calls: readonly number[]) => {
    let look = 0;
    const link: SandboxLink = {
      fetch: async () => Response.json({ processes: [], calls: calls[look++] }),
    };
    return makeRoom({ ...ports, link }, { holder });
  };
  expect([await evicts(1), await evicts(0, 1), await evicts(0, 0)]).toEqual([false, false, true]);
});

test('a sandbox whose session cannot be read stays, and the next gives way', async () => {
  const { ports, memory, request, stopping, first, second, warned } = await open();
  memory.execute({
    constructor: { name: 'UpdateCommand' },
    input: {
      Key: { pk: `SESSION#${first.id}`, sk: 'META' },
      UpdateExpression: 'SET approvals = :unknown',
      ExpressionAttributeValues: { ':unknown': 'of a later version' },
    },
  });
  expect(await makeRoom({ ...ports, link: answering([]) }, request)).toBe(true);
  expect(await stopping()).toEqual([second.workspace]);
  expect(warned).toContain('a session cannot be read, and its sandbox does not give way');
});

test('a sandbox stays whose turn was cancelled before the message behind it is taken up', async () => {
  const { ports, clock } = openQuietPorts();
  const session = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { id, workspace } = session;
  const holder = slotHolderOf(session);
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const sandbox = newSandbox({ requestedAt: clock.now, slot: { holder, session: id } });
  await ports.workspaces.claimStart(workspace, sandbox, { known: {}, slotsMax: 1 });
  await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address: 'http://10.42.0.9:8080' });
  await ports.workspaces.markReady(workspace, 1, { at: clock.now });
  await ports.inbox.accept(session, message('one', clock.now), inboxLimits);
  const working = await ports.sessions.get(id);
  if (working?.slot === undefined) throw new Error('its turn has no slot');
  // Its call waits for a person, so that the turn has given its slot back.
  const call = { callId: 'c' as CallId, name: 'execute_command', args: { command: 'true' } };
  const state: Deciding = {
    ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'one' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: noUsage, policy: { mode: 'ask', grants: [] } },
    calls: [
      { ...call, askedHuman: true, digest: 'd', askedAt: '2026-01-01T00:00:00.000Z', status: 'pending' },
    ],
  };
  const { status } = await ports.turns.commit({
    ...{ session: working, version: 0, state, at: clock.now, log: [], history: [], release: false },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, wakes: false, dueAt: clock.now + 900_000 },
    slot: { change: 'turn-rested', known: working.slot },
  });
  expect(status).toBe('committed');
  await ports.inbox.accept(working, message('two', clock.now), inboxLimits);
  await cancelTurn(ports, id);
  expect((await ports.sessions.get(id))?.slot).not.toHaveProperty('turn');
  expect(await makeRoom(ports, { holder })).toBe(false);
  expect((await ports.workspaces.get(workspace))?.sandbox?.state).toBe('ready');
  await cancelTurn(ports, id);
  clock.now += 1000;
  expect(await makeRoom(ports, { holder })).toBe(true);
  expect((await ports.workspaces.get(workspace))?.sandbox?.state).toBe('stopping');
});
