/** The audit of slots against a real DynamoDB engine: due once after a change, corrected only as it was read. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { OwnerId } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import { agentSlots, executionSlots, type SlotHolder, slotHolderOf } from '#shared/domain/slot-holder.ts';
import {
  atOnce,
  farAway,
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  onTable,
  tally,
} from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const dueBy = async (now: number, pageMax = 10_000): Promise<readonly SlotHolder[]> =>
  (await Array.fromAsync(stores().slots.due(now, pageMax))).flat();
const isDue = async (holder: SlotHolder, now: number): Promise<boolean> =>
  (await dueBy(now)).includes(holder);

/** As a correction by hand, or a lost write, would leave it. */
const miscount = (holder: SlotHolder, active: number) =>
  fixture.table.client.send(
    new UpdateCommand({
      TableName: fixture.table.name,
      Key: keys.slots(holder),
      UpdateExpression: 'SET active = :active',
      ExpressionAttributeValues: { ':active': active },
    }),
  );

const start = (session: Session, requestedAt: number) =>
  stores().workspaces.claimStart(
    session.workspace,
    newSandbox({ requestedAt, slot: { holder: slotHolderOf(session), session: session.id } }),
    { known: {}, slotsMax: 10 },
  );

const stop = ({ workspace }: Session, at: number) =>
  stores().workspaces.markStopping(workspace, 1, { reason: 'idle', at, dueAt: farAway });

const withSandbox = async (owner: OwnerId, requestedAt: number): Promise<Session> => {
  const session = await stores().create(newExecution({ owner }));
  expect(await start(session, requestedAt)).toBe('claimed');
  return session;
};

const holderOfThree = async () => {
  const owner = crypto.randomUUID() as OwnerId;
  const first = await withSandbox(owner, 1000);
  const others = [await withSandbox(owner, 2000), await withSandbox(owner, 3000)];
  return { holder: executionSlots(owner), owner, first, sessions: [first, ...others] };
};

test('a holder without slots has none, and is not due', async () => {
  const { slots } = stores();
  const holder = executionSlots(crypto.randomUUID() as OwnerId);
  expect(await slots.read(holder)).toEqual({ holder, counted: 0, version: 0, taken: [] });
  expect(await isDue(holder, farAway)).toBe(false);
  expect(await slots.settle(await slots.read(holder), 5000)).toBe(false);
});

test('slots are read with what holds them, and every change has its version', async () => {
  const { slots } = stores();
  const { holder, first, sessions } = await holderOfThree();
  const taken = sessions.map(({ id, workspace }, index) => ({
    session: id,
    sandbox: { workspace, generation: 1, flavor: 'micro' },
    movedAt: 1000 * (index + 1),
  }));
  const byId = (one: { session: string }, other: { session: string }) =>
    one.session < other.session ? -1 : 1;
  expect(await slots.read(holder)).toEqual({ holder, counted: 3, version: 3, taken: taken.sort(byId) });
  await stop(first, 4000);
  expect(await slots.read(holder)).toMatchObject({ counted: 2, version: 4 });
});

test('a slot is corrected once for twenty requests, and only as it was read', async () => {
  const { slots } = stores();
  const { holder } = await holderOfThree();
  const [held] = (await slots.read(holder)).taken;
  if (held === undefined) throw new Error('no slot is held');
  const free = { slot: {}, at: 5000 };
  expect(await slots.correct(executionSlots('another' as OwnerId), held, free)).toBe(false);
  expect(await slots.correct(holder, { ...held, movedAt: 999 }, free)).toBe(false);
  expect(tally(await atOnce(20, () => slots.correct(holder, held, free)))).toEqual({ true: 1, false: 19 });
  expect(await slots.read(holder)).toMatchObject({ counted: 2, version: 4 });
});

describe('a holder', () => {
  test('is due once after its changes, five minutes after the first of them', async () => {
    const { slots } = stores();
    const { holder } = await holderOfThree();
    expect(await isDue(holder, 300_999)).toBe(false);
    expect(await isDue(holder, 301_000)).toBe(true);
    expect((await dueBy(farAway)).filter((one) => one === holder)).toEqual([holder]);
    expect(await slots.settle(await slots.read(holder), 5000)).toBe(true);
    expect(await isDue(holder, farAway)).toBe(false);
  });

  test('is due again after the next change', async () => {
    const { slots } = stores();
    const { holder, first } = await holderOfThree();
    await slots.settle(await slots.read(holder), 5000);
    await stop(first, 9000);
    expect(await isDue(holder, 308_999)).toBe(false);
    expect(await isDue(holder, 309_000)).toBe(true);
  });

  test('of agent sessions is a project', async () => {
    const { inbox, create } = stores();
    const session = await create();
    await inbox.accept(session, message('m'), inboxLimits);
    expect(await isDue(agentSlots(session.project), 302_000)).toBe(true);
  });

  test('is listed once with all others, page by page', async () => {
    const owners = await atOnce(6, async (index) => {
      const session = await withSandbox(crypto.randomUUID() as OwnerId, 100 - index);
      return executionSlots(session.owner);
    });
    const due = (await dueBy(300_100, 2)).filter((holder) => owners.includes(holder));
    expect(due.toSorted()).toEqual(owners.toSorted());
  });
});

describe('a settlement', () => {
  test('sets a counter that stays wrong to the number of held slots', async () => {
    const { slots, create } = stores();
    const { holder, owner } = await holderOfThree();
    await miscount(holder, 10);
    const late = await create(newExecution({ owner }));
    expect(await start(late, 4000)).toBe('full');
    expect(await slots.settle(await slots.read(holder), 5000)).toBe(false);
    expect(await slots.settle(await slots.read(holder), 64_999)).toBe(false);
    expect(await slots.read(holder)).toMatchObject({ counted: 10, miscountedAt: 5000 });
    expect(await isDue(holder, farAway)).toBe(true);
    expect(await slots.settle(await slots.read(holder), 65_000)).toBe(true);
    expect(await isDue(holder, farAway)).toBe(false);
    expect(await slots.read(holder)).not.toHaveProperty('miscountedAt');
    expect(await slots.read(holder)).toMatchObject({ counted: 3 });
    expect(await start(late, 4000)).toBe('claimed');
    expect(await slots.read(holder)).toMatchObject({ counted: 4 });
  });

  test('does not believe a difference that is as old as the last change', async () => {
    const { slots } = stores();
    const { holder, first } = await holderOfThree();
    await miscount(holder, 10);
    await slots.settle(await slots.read(holder), 5000);
    await stop(first, 60_000);
    expect(await slots.settle(await slots.read(holder), 70_000)).toBe(false);
    expect(await slots.read(holder)).toMatchObject({ counted: 9, miscountedAt: 70_000 });
  });

  test('is refused when a slot changed since it was read, and the holder stays due', async () => {
    const { slots } = stores();
    const { holder, owner } = await holderOfThree();
    const read = await slots.read(holder);
    await withSandbox(owner, 4000);
    expect(await slots.settle(read, 5000)).toBe(false);
    expect(await slots.read(holder)).toMatchObject({ counted: 4 });
    expect(await isDue(holder, farAway)).toBe(true);
  });

  test('is refused when as many slots were taken as released', async () => {
    const { slots } = stores();
    const { holder, owner, first } = await holderOfThree();
    const read = await slots.read(holder);
    await withSandbox(owner, 4000);
    await stop(first, 9000);
    expect(await slots.settle(read, 5000)).toBe(false);
  });
});
