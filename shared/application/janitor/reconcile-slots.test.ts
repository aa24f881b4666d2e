/** The audit of slots beside those who take and leave them: only what is wrong is counted as corrected. */

import { expect, test } from 'vitest';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { newExecution, slotsMax, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slots.ts';
import { reconcileSlots } from './reconcile-slots.ts';

const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const session = newExecution({ createdAt: clock.now });
  const make = (made: Session) => ports.sessions.create(made, { workspace: workspaceOf(made), slotsMax });
  await make(session);
  clock.now += 300_000;
  return { ...quiet, session, holder: executionSlots(session.owner), make };
};

test('a read between two changes of a slot is no correction: the holder moved, and stays due', async () => {
  const { ports, counted, clock, session, holder, make } = await open();
  const { read } = ports.slots;
  let reads = 0;
  const slots = {
    ...ports.slots,
    read: async (of: typeof holder) => {
      const found = await read(of);
      reads += 1;
      if (reads !== 2) return found;
      await make(newExecution({ owner: session.owner, createdAt: clock.now }));
      // Half of it: the slot, and not yet the counter beside it.
      return { ...found, taken: (await read(of)).taken };
    },
  };
  expect(await reconcileSlots({ ...ports, slots })).toEqual({ audited: 1, corrected: 0 });
  expect(counted).not.toHaveProperty('SlotsCorrected');
  expect(await ports.slots.due(clock.now, 10)).toEqual([holder]);
});

test('a session that ends during the audit is no correction', async () => {
  const { ports, session, clock } = await open();
  const sessions = fake<SessionStore>({
    getMany: async (ids: readonly Session['id'][]) => {
      await ports.sessions.end(session, { status: 'stopped', at: clock.now, dueAt: clock.now });
      return ports.sessions.getMany(ids);
    },
  });
  expect(await reconcileSlots({ ...ports, sessions })).toEqual({ audited: 1, corrected: 0 });
});

test('a slot without a holder is released, and counted', async () => {
  const { ports, session, clock, holder } = await open();
  await ports.sessions.forget(session.id);
  expect(await reconcileSlots(ports)).toEqual({ audited: 1, corrected: 1 });
  expect(await ports.slots.read(holder)).toMatchObject({ counted: 0, taken: [] });
  expect(await ports.slots.due(clock.now, 10)).toEqual([]);
});
