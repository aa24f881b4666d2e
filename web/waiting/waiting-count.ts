/**
 * The number of calls that wait for this person, over all sessions and their children: one socket for the whole app,
 * which belongs to no session and reconnects by itself.
 *
 * Undefined while it is not known; a page then falls back to what its open session says.
 */
import { type ShallowRef, shallowRef, watch } from 'vue';
import { type Connection, openConnection } from '#sdk/connection.ts';
import { may, signIn } from '../access/access.ts';
import { clientOf } from '../api/request.ts';

const count = shallowRef<number>();
/** Grows with each frame, also when the number is the same: another call may wait. */
const news = shallowRef(0);

export const waitingCount: Readonly<ShallowRef<number | undefined>> = count;
export const waitingNews: Readonly<ShallowRef<number>> = news;

const openFeed = (): Connection =>
  openConnection(clientOf(), {
    query: () => ({ approvals: '1' }),
    greeting: 'approvals',
    probe: () => Promise.resolve(),
    onFrame: (frame) => {
      if (frame.type !== 'approvals') return;
      count.value = frame.data.waiting;
      news.value += 1;
    },
    onState: ({ kind }) => {
      if (kind !== 'connected') count.value = undefined;
    },
  });

let feed: Connection | undefined;
/** Only principals that may decide are asked. */
watch(
  () => signIn.value.kind === 'signed-in' && may('own:write'),
  (isWanted) => {
    feed?.close();
    count.value = undefined;
    feed = isWanted ? openFeed() : undefined;
  },
  { immediate: true },
);
addEventListener('online', () => feed?.tryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') feed?.tryNow();
});
