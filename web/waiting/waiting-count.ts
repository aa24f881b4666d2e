/**
 * The number of pending approvals over all sessions: one socket for the whole app, which belongs to no session and
 * reconnects.
 *
 * Undefined while unknown; a page then falls back to its open session.
 */
import { type ShallowRef, shallowRef, watch } from 'vue';
import { type Connection, openConnection } from '#sdk/connection.ts';
import { may, signIn } from '../access/access.ts';
import { clientOf } from '../api/request.ts';

const count = shallowRef<number>();
/** Grows with each frame, even when the count is the same: another call may wait. */
const version = shallowRef(0);

export const waitingCount: Readonly<ShallowRef<number | undefined>> = count;
export const waitingVersion: Readonly<ShallowRef<number>> = version;

const openFeed = (): Connection =>
  openConnection(clientOf(), {
    query: () => ({ approvals: '1' }),
    greeting: 'approvals',
    probe: () => Promise.resolve(),
    onFrame: (frame) => {
      if (frame.type !== 'approvals') return;
      count.value = frame.data.waiting;
      version.value += 1;
    },
    onState: ({ kind }) => {
      if (kind !== 'connected') count.value = undefined;
    },
  });

let feed: Connection | undefined;
/** Only for tokens that may decide. */
watch(
  () => signIn.value.kind === 'signed-in' && may('own:write'),
  (mayDecide) => {
    feed?.close();
    count.value = undefined;
    feed = mayDecide ? openFeed() : undefined;
  },
  { immediate: true },
);
addEventListener('online', () => feed?.tryNow());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') feed?.tryNow();
});
