/** Texts that are longer than an item of the table: compressed to fit, or cut and marked. `long-messages.test.ts` has those that do not fit. */
import { expect, test } from 'vitest';
import { inboxLimits, message, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

test('a message of a megabyte is accepted and read back whole', async () => {
  const { inbox, turns, create } = onTable(fixture.table);
  const session = await create();
  const text = 'wörter '.repeat(130_000);
  expect(await inbox.accept(session, { ...message('long'), text }, inboxLimits)).toBe('accepted');
  const work = await turns.loadWork(session.id);
  expect(work.inbox.map((one) => one.text === text)).toEqual([true]);
});

test('an event keeps the data that fits, and is marked as cut', async () => {
  const { eventLog, create } = onTable(fixture.table);
  const session = await create();
  const data = { kind: 'note', text: 'x'.repeat(600_000) };
  await eventLog.append(session.id, [{ type: 'system', data }], 5);
  const { events } = await eventLog.read(session.id, { since: -1, eventsMax: 10 });
  const [event] = events;
  const kept = JSON.stringify(event?.data);
  expect([
    event?.seq,
    kept.length > 100_000,
    kept.length <= 262_144,
    kept.includes('"truncated":true'),
  ]).toEqual([0, true, true, true]);
});
