/**
 * The pending approvals of all sessions: their number, over one socket for the whole app, and a browser notification for each
 * new one while the page is in the background.
 *
 * The number is undefined while it is unknown; a page then falls back to its open session. A notification names the tool and
 * the session, never the arguments, because a lock screen shows it. A browser that lets only a service worker notify, such as
 * Chrome for Android, has the interface and refuses its constructor: it is not supported.
 */
import { type ShallowRef, shallowRef, watch } from 'vue';
import { type Connection, openConnection } from '#sdk/connection.ts';
import type { WaitingRow } from '#sdk/routes.ts';
import { may, signIn } from '../access/access.ts';
import { clientOf } from '../api/request.ts';
import { allApprovals } from '../api/whole-lists.ts';

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

export type NotificationState = NotificationPermission | 'unsupported';

const isSupported = 'Notification' in globalThis;
const permission = shallowRef<NotificationState>(isSupported ? Notification.permission : 'unsupported');
export const notificationState: Readonly<ShallowRef<NotificationState>> = permission;

/** Browsers allow this only after a click. */
export const allowNotifications = async (): Promise<void> => {
  // Without the permission it shows nothing, and the refusal comes before the question.
  if (isSupported && tryNotification('') !== undefined)
    permission.value = await Notification.requestPermission();
};

const tryNotification = (...given: ConstructorParameters<typeof Notification>): Notification | undefined => {
  try {
    return new Notification(...given);
  } catch {
    permission.value = 'unsupported';
    return undefined;
  }
};

const keyOf = ({ sessionId, turnId, callId }: WaitingRow): string => `${sessionId} ${turnId} ${callId}`;
const idCharacters = 8;
let known: ReadonlySet<string> = new Set();
let isLooking = false;
let isLookDue = false;

/** Again when the look before has ended: a count that changes all the time would cut off each, and no notification would come. */
const look = async (): Promise<void> => {
  isLookDue = true;
  if (isLooking) return;
  isLooking = true;
  while (isLookDue) {
    isLookDue = false;
    await lookOnce();
  }
  isLooking = false;
};

const lookOnce = async (): Promise<void> => {
  try {
    const approvals = await allApprovals();
    const before = known;
    known = new Set(approvals.map(keyOf));
    const isHidden = document.visibilityState === 'hidden';
    if (isHidden) for (const row of approvals) if (!before.has(keyOf(row))) notifyAbout(row);
  } catch {
    // The next change of the count tries again.
  }
};

const notifyAbout = (row: WaitingRow): void => {
  const { sessionId, callId, name } = row;
  const notification = tryNotification('Needs your approval', {
    body: `${name} in session ${sessionId.slice(0, idCharacters)}`,
    tag: keyOf(row),
  });
  notification?.addEventListener('click', () => {
    window.focus();
    location.hash = `/approvals?${new URLSearchParams({ session: sessionId, call: callId })}`;
    notification.close();
  });
};

/** Called once, by the shell. */
export const startNotifications = (): void => {
  watch(
    [waitingVersion, permission],
    () => {
      if (permission.value === 'granted') void look();
    },
    { immediate: true },
  );
};
