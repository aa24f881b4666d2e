import { afterEach, expect, test, vi } from 'vitest';
import { request } from '../../api/request.ts';
import { readRecent } from './recent-list.ts';

afterEach(() => void vi.unstubAllGlobals());

type Row = { id: string; kind: string; archived: boolean; lastActiveAt: string };
const row = (id: string, minute: number, more: Partial<Row> = {}): Row => ({
  ...{ id, kind: 'agent', archived: false },
  lastActiveAt: `2026-11-21T00:${String(minute).padStart(2, '0')}:00.000Z`,
  ...more,
});

/** A server with these sessions, and what it was asked. */
const serve = (page: object, shown?: Row): readonly string[] => {
  const asked: string[] = [];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url.replace('http://x.example/api', ''));
    if (/sessions([?]|$)/.test(url)) return Response.json(page);
    if (shown !== undefined) return Response.json(shown);
    return Response.json({ error: { code: 'session_not_found', message: 'None.' } }, { status: 404 });
  });
  return asked;
};
const read = async (openId: string | null) => {
  const { sessions, hasOlder } = await readRecent(
    { request },
    { openId, signal: new AbortController().signal },
  );
  return [sessions.map(({ id }) => id), hasOlder];
};

test('only agent sessions are asked for, and those that were active last come first', async () => {
  const asked = serve({ sessions: [row('a', 1), row('b', 2)] });
  expect(await read('b')).toEqual([['b', 'a'], false]);
  expect(asked).toEqual(['/sessions?kind=agent']);
});

test('the open session is among them, however long ago it was made', async () => {
  const page = { sessions: [row('a', 1)], next: 'a' };
  serve(page, row('old', 5));
  expect(await read('old')).toEqual([['old', 'a'], true]);
  serve(page, row('old', 5, { archived: true }));
  expect(await read('old')).toEqual([['a'], true]);
  serve(page);
  expect(await read('gone')).toEqual([['a'], true]);
});

test('an empty page that is not the last one says so', async () => {
  serve({ sessions: [], next: 'x' });
  expect(await read(null)).toEqual([[], true]);
});

test('at most forty are shown', async () => {
  serve({ sessions: Array.from({ length: 50 }, (_, index) => row(`s${index}`, index)) });
  const [ids] = await read(null);
  expect(ids).toHaveLength(40);
  expect(ids).toContain('s49');
});
