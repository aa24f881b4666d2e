/**
 * The number of calls that wait for this person, over all sessions and their children: one socket for the whole app,
 * which belongs to no session and reconnects by itself.
 *
 * Undefined while it is not known; a page then falls back to what its open session says.
 */
import { type ShallowRef, shallowRef, watch } from 'vue';
import { may, signIn } from '../access/access.ts';
import { RequestError, request } from '../api/request.ts';
import { api } from '../api/routes.ts';
import { startHeartbeat } from '../connection/heartbeat.ts';
import type { Frame } from '../connection/protocol.ts';
import { scheduleRetries } from '../connection/retry.ts';
import { openSocket, type Socket } from '../connection/socket.ts';

const count = shallowRef<number>();
/** Grows with each frame, also when the number is the same: another call may wait. */
const news = shallowRef(0);

export const waitingCount: Readonly<ShallowRef<number | undefined>> = count;
export const waitingNews: Readonly<ShallowRef<number>> = news;

/** Another try of these would end as this one did. */
const finalStatuses = new Set([400, 401, 403]);

type Feed = { readonly tryNow: () => void; readonly close: () => void };

const openFeed = (): Feed => {
  let isClosed = false;
  let socket: Socket | undefined;

  const connect = async (): Promise<void> => {
    try {
      const { ticket } = await request(api.makeTicket);
      if (isClosed) return;
      socket = openSocket({ ticket, query: { approvals: '1' }, onFrame: receive, onEnd: lose });
    } catch (error) {
      if (isClosed || (error instanceof RequestError && finalStatuses.has(error.status))) return;
      retry.later();
    }
  };
  const receive = (frame: Frame): void => {
    heartbeat.heard();
    if (frame.type !== 'approvals') return;
    retry.succeeded();
    count.value = frame.data.waiting;
    news.value += 1;
  };
  const lose = (): void => {
    leave();
    if (!isClosed) retry.later();
  };
  const leave = (): void => {
    socket?.leave();
    socket = undefined;
    count.value = undefined;
  };

  const retry = scheduleRetries(() => void connect());
  const heartbeat = startHeartbeat({
    ping: () => socket?.send({ action: 'ping' }),
    onSilence: lose,
  });
  void connect();
  return {
    tryNow: retry.now,
    close: () => {
      isClosed = true;
      retry.stop();
      heartbeat.stop();
      leave();
    },
  };
};

let feed: Feed | undefined;
/** Only principals that may decide are asked. */
watch(
  () => signIn.value.kind === 'signed-in' && may('own:write'),
  (isWanted) => {
    feed?.close();
    feed = isWanted ? openFeed() : undefined;
  },
  { immediate: true },
);
addEventListener('online', () => feed?.tryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') feed?.tryNow();
});
