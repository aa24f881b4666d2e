/** The audit of slots beside those who take and leave them: only what is wrong is counted as corrected. */

import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import {
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { agentSlots, executionSlots } from '../../domain/slot-holder.ts';
import { reconcileSlots } from './reconcile-slots.ts';

const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const session = newExecution({ createdAt: clock.now });
  const holder = executionSlots(session.owner);
  const make = async (made: Session) => {
    await ports.sessions.create(made, { workspace: workspaceOf(made) });
    const sandbox = newSandbox({ requestedAt: clock.now, slot: { holder, session: made.id } });
    await ports.workspaces.claimStart(made.workspace, sandbox, { known: {}, slotsMax: 10 });
  };
  await make(session);
  clock.now += 300_000;
  const stop = () =>
    ports.workspaces.markStopping(session.workspace, 1, { reason: 'idle', at: clock.now, dueAt: clock.now });
  return { ...quiet, session, holder, make, stop };
};

test('what is as it should be is no correction, and is due no more', async () => {
  const { ports, counted, clock } = await open();
  expect(await reconcileSlots(ports)).toEqual({ audited: 1, corrected: 0 });
  expect(counted).not.toHaveProperty('SlotsCorrected');
  expect((await Array.fromAsync(ports.slots.due(clock.now, 10))).flat()).toEqual([]);
});

test('a read between two changes of a slot is no correction: the holder moved, and stays due', async () => {
  const { ports, counted, clock, session, holder, make } = await open();
  const { read } = ports.slots;
  const slots = {
    ...ports.slots,
    read: async (of: typeof holder) => {
      const found = await read(of);
      await make(newExecution({ owner: session.owner, createdAt: clock.now }));
      // Half of it: the slot, and not yet the counter beside it.
      return { ...found, taken: (await read(of)).taken };
    },
  };
  expect(await reconcileSlots({ ...ports, slots })).toEqual({ audited: 1, corrected: 0 });
  expect(counted).not.toHaveProperty('SlotsCorrected');
  expect((await Array.fromAsync(ports.slots.due(clock.now, 10))).flat()).toEqual([holder]);
});

test('a sandbox that stops during the audit is no correction', async () => {
  const { ports, stop } = await open();
  const workspaces = {
    ...ports.workspaces,
    getMany: async (ids: Parameters<typeof ports.workspaces.getMany>[0]) => {
      await stop();
      return ports.workspaces.getMany(ids);
    },
  };
  expect(await reconcileSlots({ ...ports, workspaces })).toEqual({ audited: 1, corrected: 0 });
});

test('a slot of a sandbox that is gone is released, and counted', async () => {
  const { ports, session, table, clock, holder, counted } = await open();
  await table.client.send(
    new DeleteCommand({ TableName: table.name, Key: keys.workspace(session.workspace) }),
  );
  expect(await reconcileSlots(ports)).toEqual({ audited: 1, corrected: 1 });
  expect(await ports.slots.read(holder)).toMatchObject({ counted: 0, taken: [] });
  expect((await Array.fromAsync(ports.slots.due(clock.now, 10))).flat()).toEqual([]);
  expect(counted.SlotsCorrected).toBe(1);
});

test('a slot of a turn whose session is gone is released, and its sandbox keeps it', async () => {
  const { ports, clock, table } = await open();
  const agent = newSession({ createdAt: clock.now });
  await ports.sessions.create(agent, { workspace: workspaceOf(agent) });
  await ports.inbox.accept(agent, message('m', clock.now), inboxLimits);
  const holder = agentSlots(agent.project);
  const sandbox = newSandbox({ requestedAt: clock.now, slot: { holder, session: agent.id } });
  await ports.workspaces.claimStart(agent.workspace, sandbox, { known: { turn: true }, slotsMax: 1 });
  await table.client.send(new DeleteCommand({ TableName: table.name, Key: keys.session(agent.id) }));
  clock.now += 300_000;
  expect(await reconcileSlots(ports)).toMatchObject({ corrected: 1 });
  const { counted, taken } = await ports.slots.read(holder);
  expect([counted, taken.map(({ turn, sandbox: held }) => [turn, held?.generation])]).toEqual([
    1,
    [[undefined, 1]],
  ]);
});

test('all holders that are due are audited, however many, and one that is not settled delays no other', async () => {
  const { ports, clock } = openQuietPorts();
  for (let index = 0; index < 450; index += 1) {
    const session = newExecution({ createdAt: clock.now });
    const slot = { holder: executionSlots(session.owner), session: session.id };
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
    const sandbox = newSandbox({ requestedAt: clock.now, slot });
    await ports.workspaces.claimStart(session.workspace, sandbox, { known: {}, slotsMax: 10 });
  }
  clock.now += 300_000;
  const slots = { ...ports.slots, settle: () => Promise.resolve(false) };
  expect(await reconcileSlots({ ...ports, slots })).toMatchObject({ audited: 450 });
  expect(await reconcileSlots(ports)).toMatchObject({ audited: 450 });
  expect(await reconcileSlots(ports)).toMatchObject({ audited: 0 });
});
