import { afterEach, expect, test, vi } from 'vitest';
import { request } from '../../api/request.ts';
import { type Reached, readReached } from './reached-hosts.ts';

afterEach(() => void vi.unstubAllGlobals());

const egress = (index: number, host: string, bytesIn: number) => ({
  ...{ index, type: 'egress', at: `2026-11-21T00:00:0${index % 10}.000Z` },
  data: { host, port: 443, allowed: true, bytesIn, bytesOut: 1, connections: 1 },
});
const page = (events: readonly object[], droppedEvents = 0, hasMore = false): Response =>
  Response.json({ events, droppedEvents, hasMore });

/** A server that gives these answers, one after the other, and what it was asked. */
const serve = (...answers: Response[]): readonly string[] => {
  const asked: string[] = [];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url.replace(/.*[?]/, ''));
    return answers.shift() ?? page([]);
  });
  return asked;
};
const read = (known?: Reached, sessionId = 's1') =>
  readReached({ request }, { sessionId, signal: new AbortController().signal }, known);
const sums = ({ hosts }: Reached) =>
  hosts.map(({ host, bytesIn, connections }) => [host, bytesIn, connections]);

test('each read asks for the events since the one before, and adds them up', async () => {
  const asked = serve(
    page([egress(3, 'a.example', 10)], 0, true),
    page([egress(4, 'b.example', 5)]),
    page([egress(5, 'a.example', 7), { index: 6, type: 'message', at: '', data: {} }]),
  );
  const first = await read();
  const second = await read(first);
  const third = await read(second);
  expect(asked).toEqual(['since_index=-1', 'since_index=3', 'since_index=4', 'since_index=6']);
  expect(sums(first)).toEqual([
    ['b.example', 5, 1],
    ['a.example', 10, 1],
  ]);
  expect(sums(second)).toEqual([
    ['a.example', 17, 2],
    ['b.example', 5, 1],
  ]);
  expect([sums(third), third.isCut]).toEqual([sums(second), false]);
});

test('sums that lack older events say so, also later', async () => {
  serve(page([egress(2000, 'a.example', 1)], 1000), page([egress(2001, 'a.example', 1)]));
  const first = await read();
  expect([first.isCut, (await read(first)).isCut]).toEqual([true, true]);
});

test('sums begin anew when events between two reads are gone, and for another session', async () => {
  const error = { code: 'events_purged', message: 'Purged.', oldestIndex: 50 };
  const asked = serve(
    page([egress(3, 'a.example', 10)]),
    Response.json({ error }, { status: 410 }),
    page([egress(50, 'b.example', 1)], 50),
    page([egress(0, 'c.example', 1)]),
  );
  const again = await read(await read());
  expect([sums(again), again.isCut]).toEqual([[['b.example', 1, 1]], true]);
  expect(sums(await read(again, 's2'))).toEqual([['c.example', 1, 1]]);
  expect(asked).toEqual(['since_index=-1', 'since_index=3', 'since_index=-1', 'since_index=-1']);
});
