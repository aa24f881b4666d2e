/**
 * Browser notifications: one for each new pending approval while the page is in the background. They name the tool and
 * the session, never the arguments, because a lock screen shows them.
 */
import { type ShallowRef, shallowRef, watch } from 'vue';
import { api, type WaitingRow } from '#sdk/routes.ts';
import { request } from '../api/request.ts';
import { waitingVersion } from './waiting-count.ts';

export type NotificationState = NotificationPermission | 'unsupported';

const isSupported = 'Notification' in globalThis;
const state = shallowRef<NotificationState>(isSupported ? Notification.permission : 'unsupported');
export const notificationState: Readonly<ShallowRef<NotificationState>> = state;

/** Browsers allow this only after a click. */
export const allowNotifications = async (): Promise<void> => {
  if (isSupported) state.value = await Notification.requestPermission();
};

const keyOf = ({ sessionId, turnId, callId }: WaitingRow): string => `${sessionId} ${turnId} ${callId}`;
const idCharacters = 8;
let known: ReadonlySet<string> = new Set();
let asking: AbortController | undefined;

const look = async (): Promise<void> => {
  asking?.abort();
  asking = new AbortController();
  try {
    const { approvals } = await request(api.listApprovals, {}, { signal: asking.signal });
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
  const notification = new Notification('Needs your approval', {
    body: `${name} in session ${sessionId.slice(0, idCharacters)}`,
    tag: keyOf(row),
  });
  notification.addEventListener('click', () => {
    window.focus();
    location.hash = `/approvals?${new URLSearchParams({ session: sessionId, call: callId })}`;
    notification.close();
  });
};

/** Called once, by the shell. */
export const startNotifications = (): void => {
  watch(
    [waitingVersion, state],
    () => {
      if (state.value === 'granted') void look();
    },
    { immediate: true },
  );
};
