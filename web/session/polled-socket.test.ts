import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiClient } from '#sdk/api-client.ts';
import { connectionLost } from '#sdk/errors.ts';
import { fetchEvents } from '#sdk/event-feed.ts';
import { api } from '#sdk/routes.ts';
import { polledSocket } from './polled-socket.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const event = (index: number) => ({
  ...{ index, type: 'message', at: 'T', sessionId: 's' },
  data: { messageId: `m${index}`, role: 'user', text: 'x' },
});

type Asked = { isDown: boolean; readonly events: ReturnType<typeof event>[]; readonly asked: string[] };

/** A session with these events, whose page has two of them. */
const openPolled = async ({ isDown, events, asked }: Asked, query = 'since=-1') => {
  const state = { isDown };
  const fetch = async (url: string, { method = 'GET' }: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(url);
    asked.push(`${method} ${pathname}`);
    if (state.isDown) throw new TypeError('down');
    if (!pathname.endsWith('/events'))
      return Response.json({ provider: 'demo', model: 'demo', status: 'idle' });
    const since = Number(searchParams.get('since_index'));
    const page = events.filter(({ index }) => index > since).slice(0, 2);
    return Response.json({ events: page, lastIndex: 0, hasMore: false, droppedEvents: 0 });
  };
  const client = new ApiClient({
    url: 'http://x.example',
    fetch: fetch as typeof globalThis.fetch,
    triesMax: 1,
  });
  const socket = new (polledSocket({ client, api, fetchEvents, connectionLost }))(
    `ws://x.example/ws?sessionId=s&${query}`,
  );
  const heard: { readonly type: string; readonly seq: number | null }[] = [];
  const closed = vi.fn();
  if (query.endsWith('closes')) socket.close();
  if (query.endsWith('leaves')) socket.addEventListener('open', () => socket.close());
  socket.addEventListener('message', ({ data }) => heard.push(JSON.parse(String(data))));
  socket.addEventListener('close', closed);
  await vi.advanceTimersByTimeAsync(0);
  const seqs = () => heard.map(({ type, seq }) => seq ?? type);
  return { state, socket, seqs, closed };
};

test('all pages of the log are told after the greeting, then what is new, and nothing once it is closed', async () => {
  const events = [event(0), event(1), event(2)];
  const asked: string[] = [];
  const { socket, seqs } = await openPolled({ isDown: false, events, asked });
  expect(seqs()).toEqual(['system:ready', 0, 1, 2]);
  events.push(event(3));
  await vi.advanceTimersByTimeAsync(3000);
  expect(seqs()).toEqual(['system:ready', 0, 1, 2, 3]);
  socket.close();
  asked.length = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual([]);
});

test('one that is closed while it opens says nothing', async () => {
  const asked: string[] = [];
  const { socket, seqs } = await openPolled({ isDown: false, events: [], asked }, 'since=-1&closes');
  expect(seqs()).toEqual([]);
  socket.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([asked.filter((line) => line.endsWith('/events')).length, seqs()]).toEqual([1, []]);
});

test('one that is left while it opens, as its client leaves it, asks no more', async () => {
  const asked: string[] = [];
  await openPolled({ isDown: false, events: [], asked }, 'since=-1&leaves');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.filter((line) => line.endsWith('/events')).length).toBe(1);
});

test('a ping is answered after the one who asks waits for it', async () => {
  const { socket, seqs } = await openPolled({ isDown: false, events: [], asked: [] });
  socket.send('{"action":"ping"}');
  expect(seqs()).toEqual(['system:ready']);
  await vi.advanceTimersByTimeAsync(0);
  expect(seqs()).toEqual(['system:ready', 'pong']);
});

test('an action is a request, after which the log is read at once; one without a request is refused', async () => {
  const events = [event(4)];
  const asked: string[] = [];
  const { socket, seqs } = await openPolled({ isDown: false, events, asked }, 'since=4');
  asked.length = 0;
  events.push(event(5));
  socket.send('{"action":"turn:cancel"}');
  await vi.advanceTimersByTimeAsync(10);
  expect(asked.slice(0, 2)).toEqual(['POST /api/sessions/s/cancel', 'GET /api/sessions/s/events']);
  expect(seqs()).toEqual(['system:ready', 5]);
  socket.send('{"action":"history:reset"}');
  await vi.advanceTimersByTimeAsync(0);
  expect(seqs()).toEqual(['system:ready', 5, 'error']);
});

test('it closes once the log cannot be read', async () => {
  const { state, closed } = await openPolled({ isDown: false, events: [], asked: [] });
  state.isDown = true;
  await vi.advanceTimersByTimeAsync(3000);
  expect(closed).toHaveBeenCalledTimes(1);
  const { closed: closedAtOnce } = await openPolled({ isDown: true, events: [], asked: [] });
  expect(closedAtOnce).toHaveBeenCalledTimes(1);
});
