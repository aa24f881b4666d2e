import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { readEvents } from './read-events.ts';

const opened = async (events: number) => {
  const { sessions, eventLog } = openQuietPorts().ports;
  const session = newSession();
  await sessions.create(session, {});
  for (let at = 0; at < events; at += 1)
    await eventLog.append(session.id, [{ type: 'system', data: { kind: 'note' } }], at);
  const read = (await sessions.get(session.id)) ?? session;
  return (since: number) => readEvents(eventLog, read, { since, eventsMax: 2 });
};

test.each([
  ['an empty log', 0, -1, -1],
  ['an empty log, from beyond its end', 0, 99_999, -1],
  ['the whole page', 3, -1, 1],
  ['the rest', 3, 1, 2],
  ['the end', 3, 2, 2],
  ['beyond the end', 3, 502, 2],
  ['beyond every number of an event', 3, 9_999_999_999_998, 2],
])('of %s the last index is that of an event, or -1', async (...[, events, since, lastIndex]) => {
  const read = await opened(events);
  expect((await read(since)).lastIndex).toBe(lastIndex);
});

test('a reader whose number is beyond the log misses nothing that comes meanwhile', async () => {
  const { sessions, eventLog } = openQuietPorts().ports;
  const session = newSession();
  await sessions.create(session, {});
  await eventLog.append(session.id, [{ type: 'system', data: { kind: 'note' } }], 1);
  const { events, lastIndex } = await readEvents(eventLog, session, { since: 50, eventsMax: 2 });
  expect([events.map(({ index }) => index), lastIndex]).toEqual([[0], 0]);
});
