/** The audit of slots against a real DynamoDB engine: due once after a change, corrected only as it was read. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { OwnerId, SessionId } from '#shared/domain/ids.ts';
import { agentSlots, executionSlots, type SlotHolder } from '#shared/domain/slots.ts';
import {
  atOnce,
  farAway,
  newExecution,
  newSession,
  onTable,
  slotsMax,
  tally,
  workspaceOf,
} from './session-fixture.ts';
import { openTableFixture, type TableFixture } from './table-fixture.ts';

let fixture: TableFixture;
beforeAll(async () => {
  fixture = await openTableFixture();
});
afterAll(() => fixture.close());

const stores = () => onTable(fixture.table);
const isDue = async (holder: SlotHolder, now: number): Promise<boolean> =>
  (await stores().slots.due(now, 10_000)).includes(holder);

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

const holderOfThree = async () => {
  const owner = crypto.randomUUID() as OwnerId;
  const sessions = [1000, 2000, 3000].map((createdAt) => newExecution({ owner, createdAt }));
  for (const session of sessions) await stores().create(session);
  return { holder: executionSlots(owner), sessions };
};

test('a holder without slots has none, and is not due', async () => {
  const { slots } = stores();
  const holder = executionSlots(crypto.randomUUID() as OwnerId);
  expect(await slots.read(holder)).toEqual({ holder, counted: 0, version: 0, taken: [] });
  expect(await isDue(holder, farAway)).toBe(false);
  expect(await slots.settle(await slots.read(holder))).toBe(false);
});

test('slots are read with their sessions, and every change has its version', async () => {
  const { slots, sessions } = stores();
  const { holder, sessions: made } = await holderOfThree();
  const taken = made.map(({ id, createdAt }) => ({ session: id, flavor: 'micro', takenAt: createdAt }));
  const byId = (one: { session: string }, other: { session: string }) =>
    one.session < other.session ? -1 : 1;
  expect(await slots.read(holder)).toEqual({ holder, counted: 3, version: 3, taken: taken.sort(byId) });
  const [first] = made;
  await sessions.end(first ?? newSession(), { status: 'stopped', at: 4000, dueAt: farAway });
  expect(await slots.read(holder)).toMatchObject({ counted: 2, version: 4 });
});

test('a slot is released once for twenty requests, and only where it was taken', async () => {
  const { slots } = stores();
  const { holder, sessions } = await holderOfThree();
  const session = sessions[0]?.id ?? ('' as SessionId);
  expect(await slots.release(executionSlots('another' as OwnerId), session, 5000)).toBe(false);
  expect(tally(await atOnce(20, () => slots.release(holder, session, 5000)))).toEqual({
    true: 1,
    false: 19,
  });
  expect(await slots.read(holder)).toMatchObject({ counted: 2, version: 4 });
});

describe('a holder', () => {
  test('is due once after its changes, five minutes after the first of them', async () => {
    const { slots } = stores();
    const { holder } = await holderOfThree();
    expect(await isDue(holder, 300_999)).toBe(false);
    expect(await isDue(holder, 301_000)).toBe(true);
    expect((await slots.due(farAway, 10_000)).filter((one) => one === holder)).toEqual([holder]);
    expect(await slots.settle(await slots.read(holder))).toBe(true);
    expect(await isDue(holder, farAway)).toBe(false);
  });

  test('is due again after the next change', async () => {
    const { slots, sessions } = stores();
    const { holder, sessions: made } = await holderOfThree();
    await slots.settle(await slots.read(holder));
    await sessions.end(made[0] ?? newSession(), { status: 'stopped', at: 9000, dueAt: farAway });
    expect(await isDue(holder, 308_999)).toBe(false);
    expect(await isDue(holder, 309_000)).toBe(true);
  });

  test('of agent sessions is a project', async () => {
    const { inbox } = stores();
    const session = await stores().create();
    const first = { messageId: 'm', text: 't', acceptedAt: 2000, correlationId: 'c' };
    await inbox.accept(session, first as Parameters<typeof inbox.accept>[1], slotsMax);
    expect(await isDue(agentSlots(session.project), 302_000)).toBe(true);
  });

  test('is listed up to the limit, longest waiting first', async () => {
    const { slots, create } = stores();
    const owners = await atOnce(6, async (index) => {
      const session = await create(newExecution({ createdAt: 100 - index }));
      return executionSlots(session.owner);
    });
    expect(await slots.due(300_100, 3)).toEqual([owners[5], owners[4], owners[3]]);
  });
});

describe('a settlement', () => {
  test('sets a wrong counter to the number of taken slots', async () => {
    const { slots, create } = stores();
    const { holder, sessions } = await holderOfThree();
    await miscount(holder, 10);
    const owner = sessions[0]?.owner ?? ('' as OwnerId);
    const late = newExecution({ owner });
    const options = { workspace: workspaceOf(late), slotsMax };
    expect(await stores().sessions.create(late, options)).toBe('full');
    expect(await slots.settle(await slots.read(holder))).toBe(true);
    expect(await slots.read(holder)).toMatchObject({ counted: 3 });
    await create(late);
    expect(await slots.read(holder)).toMatchObject({ counted: 4 });
  });

  test('is refused when a slot changed since it was read, and the holder stays due', async () => {
    const { slots, create } = stores();
    const { holder, sessions } = await holderOfThree();
    const read = await slots.read(holder);
    const owner = sessions[0]?.owner ?? ('' as OwnerId);
    await create(newExecution({ owner }));
    expect(await slots.settle(read)).toBe(false);
    expect(await slots.read(holder)).toMatchObject({ counted: 4 });
    expect(await isDue(holder, farAway)).toBe(true);
  });

  test('is refused when as many slots were taken as released', async () => {
    const { slots, sessions, create } = stores();
    const { holder, sessions: made } = await holderOfThree();
    const read = await slots.read(holder);
    const [first] = made;
    await create(newExecution({ owner: first?.owner ?? ('' as OwnerId) }));
    await sessions.end(first ?? newSession(), { status: 'stopped', at: 9000, dueAt: farAway });
    expect(await slots.settle(read)).toBe(false);
  });
});
