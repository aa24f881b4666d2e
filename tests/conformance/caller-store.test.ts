/** Callers of a session: declared, replaced, found with the rest of a turn's work, and gone with their connection. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { callerOffer } from '#shared/contracts/caller-tools.ts';
import { type Caller, callersPerSessionMax } from '#shared/domain/caller-tool.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { CallerStore } from '#shared/ports/calls.ts';
import { onTable } from './session-fixture.ts';
import { openTableFixture, sentTwice, type TableFixture } from './table-fixture.ts';

let fixture: TableFixture;
let callers: CallerStore;
beforeAll(async () => {
  fixture = await openTableFixture();
  callers = makeCallerStore(fixture.table);
});
afterAll(() => fixture.close());

const newSession = async (): Promise<SessionId> => (await onTable(fixture.table).create()).id;
const caller = (callerId: string, connection?: string): Caller => ({
  callerId,
  tools: [{ name: 'open', description: 'opens', inputSchema: { type: 'object' } }],
  ...(connection === undefined ? {} : { connectionId: connection as ConnectionId }),
});

const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

test('a client’s new declaration replaces its earlier one', async () => {
  const id = await newSession();
  await callers.declare(id, caller('ide', 'c1'));
  const again = { ...caller('ide', 'c2'), tools: [] };
  expect(await callers.declare(id, again)).toBe('declared');
  expect(await callers.list(id)).toEqual([again]);
  expect(await callers.list(await newSession())).toEqual([]);
});

test('every valid declaration can be stored, however deep it is', async () => {
  const id = await newSession();
  const accepted = Array.from({ length: 40 }, (_, levels) =>
    callerOffer.safeParse({ callerId: 'ide', tools: [{ name: 'open', inputSchema: nested(levels + 1) }] }),
  ).filter(({ success }) => success);
  expect(accepted).toHaveLength(24);
  for (const { data } of accepted) expect(await callers.declare(id, data as Caller)).toBe('declared');
});

test('a turn reads them with its pending work', async () => {
  const id = await newSession();
  await callers.declare(id, caller('ide', 'c1'));
  await callers.declare(id, caller('cli'));
  const { callers: read } = await makeTurnStore(fixture.table).loadWork(id);
  expect(read).toEqual([caller('cli'), caller('ide', 'c1')]);
});

test('a closing connection removes its own declarations', async () => {
  const id = await newSession();
  await callers.declare(id, caller('ide', 'c1'));
  await callers.withdraw(id, 'ide', { connectionId: 'c2' as ConnectionId });
  expect(await callers.list(id)).toHaveLength(1);
  await callers.withdraw(id, 'ide', { connectionId: 'c1' as ConnectionId });
  await callers.withdraw(id, 'ide', { connectionId: 'c1' as ConnectionId });
  expect(await callers.list(id)).toEqual([]);
});

test('a session has a maximum of callers, and an existing one may always declare again', async () => {
  const id = await newSession();
  for (let place = 0; place < callersPerSessionMax; place += 1)
    expect(await callers.declare(id, caller(`c${place}`))).toBe('declared');
  expect(await callers.declare(id, caller('one-more'))).toBe('full');
  expect(await callers.declare(id, caller('c0', 'x'))).toBe('declared');
});

test('a program withdraws its own offer, and none that came since', async () => {
  const id = await newSession();
  await callers.declare(id, { ...caller('program'), offer: 'first' });
  await callers.declare(id, { ...caller('program'), offer: 'second' });
  await callers.withdraw(id, 'program', { offer: 'first' });
  expect(await callers.list(id)).toEqual([{ ...caller('program'), offer: 'second' }]);
  await callers.withdraw(id, 'program', { offer: 'second' });
  await callers.withdraw(id, 'program', { offer: 'second' });
  expect(await callers.list(id)).toEqual([]);
});

test('an offer that a program withdraws leaves no record, and takes no place', async () => {
  const id = await newSession();
  for (let place = 0; place < callersPerSessionMax; place += 1)
    await callers.declare(id, caller(`c${place}`));
  for (const callerId of ['c0', 'c1', 'never'])
    expect(await callers.declare(id, { callerId, tools: [] })).toBe('declared');
  expect(await callers.list(id)).toHaveLength(callersPerSessionMax - 2);
  expect(await callers.declare(id, caller('one-more'))).toBe('declared');
});

test('a call from a sandbox is answered once, and not when it waits no longer', async () => {
  const store = callers;
  const id = await newSession();
  await store.ask(id, 'r', 100);
  const answer = { text: '[]', isError: false };
  expect(await store.answerTo(id, 'r')).toBeUndefined();
  expect(await store.answer(id, 'other', { ...answer, at: 1 })).toBe('late');
  expect(await store.answer(id, 'r', { ...answer, at: 100 })).toBe('late');
  expect(await store.answer(id, 'r', { ...answer, at: 99 })).toBe('answered');
  expect(await store.answer(id, 'r', { text: 'again', isError: true, at: 99 })).toBe('late');
  expect(await store.answerTo(id, 'r')).toEqual(answer);
});

test('an answer whose first confirmation was lost is taken once, and no other', async () => {
  const unheard = makeCallerStore(sentTwice(fixture.table));
  const id = await newSession();
  await callers.ask(id, 'r', 100);
  const answer = { text: '[]', isError: false };
  expect(await unheard.answer(id, 'r', { ...answer, at: 99 })).toBe('answered');
  expect(await unheard.answer(id, 'r', { ...answer, at: 99 })).toBe('late');
  expect(await callers.answerTo(id, 'r')).toEqual(answer);
});
