import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { readTreeEvents } from './read-tree-events.ts';

const opened = async (times: Readonly<Record<'root' | 'child', readonly number[]>>, text = '') => {
  const { ports } = openQuietPorts();
  const { sessions, eventLog } = ports;
  const log = async ({ id }: Session, at: readonly number[]): Promise<Session> => {
    for (const time of at)
      await eventLog.append(id, [{ type: 'system', data: { kind: 'note', time, text } }], time);
    return (await sessions.get(id)) as Session;
  };
  const root = newSession();
  await sessions.create(root, {});
  const tree = { root: root.id, parent: root.id };
  const child = { ...newSession(), depth: 1, tree };
  const made = await sessions.create(child, { child: { parent: root, agentsMax: 2 } });
  expect(made).toBe('created');
  await log(child, times.child);
  const read = await log(root, times.root);
  return (since: number, eventsMax = 1000) => readTreeEvents(ports, read, { since, eventsMax });
};

const timesOf = ({ events }: { readonly events: readonly { readonly at: string }[] }): readonly number[] =>
  events.map(({ at }) => Date.parse(at));

test('the events of all sessions are merged by time, each with its session', async () => {
  const read = await opened({ root: [10, 30, 50], child: [20, 40, 60] });
  const all = await read(-1);
  expect(timesOf(all)).toEqual([10, 20, 30, 40, 50, 60]);
  expect(new Set(all.events.map(({ sessionId }) => sessionId)).size).toBe(2);
  expect(all.lastIndex).toBe(2);
});

test('a reader that continues misses no event, and no session is ahead of it', async () => {
  const read = await opened({ root: [10, 30, 50], child: [20, 30, 60] });
  expect(timesOf(await read(-1, 1))).toEqual([10]);
  expect(timesOf(await read(0, 1))).toEqual([20, 30, 30]);
  expect(timesOf(await read(1, 1))).toEqual([30, 50, 60]);
  expect(timesOf(await read(2))).toEqual([60]);
});

test('a reader whose number is beyond the log gets what is new, not each log from its beginning', async () => {
  const read = await opened({ root: [10, 30, 50], child: [20, 40, 60] });
  for (const since of [3, 7, 9_999_999_999_998]) {
    const page = await read(since);
    expect([timesOf(page), page.lastIndex]).toEqual([[60], 2]);
  }
});

const bytes = (value: unknown): number => JSON.stringify(value).length;
const mebibyte = 1_048_576;
const from = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

test('a page with descendants keeps the bytes of one answer, and the pages together lack nothing', async () => {
  // 6 MB of a child between the events of its parent.
  const read = await opened({ root: [0, 10, 20, 30, 40], child: from(1, 30) }, 'x'.repeat(200 * 1024));
  const seen = new Map<number, string>();
  let [since, hasMore, pages] = [-1, true, 0];
  for (; hasMore && pages < 10; pages += 1) {
    const page = await read(since);
    expect(bytes(page.events)).toBeLessThan(4.01 * mebibyte);
    expect(page.leftOut).toBeUndefined();
    for (const { sessionId, index, at } of page.events) seen.set(Date.parse(at), `${sessionId}#${index}`);
    expect(page.lastIndex > since || !page.hasMore).toBe(true);
    [since, hasMore] = [page.lastIndex, page.hasMore];
  }
  expect(hasMore).toBe(false);
  expect(pages).toBeGreaterThan(1);
  expect(new Set(seen.keys())).toEqual(new Set([0, ...from(1, 30), 40]));
});

test('a child with more than fits before the next event of its parent is left out by name, and the reader goes on', async () => {
  const read = await opened({ root: [0, 100], child: from(1, 30) }, 'x'.repeat(200 * 1024));
  const first = await read(-1);
  expect([first.lastIndex, first.hasMore, first.leftOut]).toEqual([0, true, undefined]);
  const second = await read(0);
  expect(bytes(second.events)).toBeLessThan(4.01 * mebibyte);
  expect(timesOf(second).at(-1)).toBe(100);
  expect([second.lastIndex, second.hasMore]).toEqual([1, true]);
  const shown = second.events.length - 1;
  const child = second.events[0]?.sessionId;
  expect(second.leftOut).toEqual([{ sessionId: child, sinceIndex: shown - 1 }]);
  expect(await read(1)).toMatchObject({ events: [], lastIndex: 1, hasMore: false });
});

test('a child of whose log the older megabytes are known is read from the time of the page on', async () => {
  const read = await opened({ root: [0, 35], child: from(1, 40) }, 'x'.repeat(200 * 1024));
  expect(timesOf(await read(1))).toEqual(from(35, 6));
});

test('a page with descendants has 1000 events at most', async () => {
  const read = await opened({ root: [0, 2000], child: from(1, 999) });
  const page = await read(-1);
  expect(page.events).toHaveLength(1000);
  expect([page.lastIndex, page.hasMore]).toEqual([0, true]);
  expect(timesOf(await read(0))).toEqual([...from(1, 999), 2000]);
});
