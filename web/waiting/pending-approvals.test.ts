import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import { nextTick } from 'vue';

const row = {
  ...{ sessionId: 's', title: 't', project: 'p', turnId: 'u', callId: 'c', name: 'execute_command' },
  ...{ args: {}, digest: 'd', askedAt: '2026-11-21T00:00:00.000Z' },
};
const questions: string[] = [];

/** As in Chrome for Android: https://developer.mozilla.org/docs/Web/API/Notification/Notification */
class RefusedNotification {
  static permission: NotificationPermission = 'default';
  static requestPermission = async (): Promise<NotificationPermission> => {
    questions.push('permission');
    return 'granted';
  };
  constructor() {
    throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.');
  }
}

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal('location', { origin: 'http://x.example', hash: '', pathname: '/', search: '' });
  vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'hidden' });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('fetch', async () => Response.json({ approvals: [row] }));
  vi.stubGlobal('Notification', RefusedNotification);
  questions.length = 0;
});
afterEach(() => void vi.unstubAllGlobals());

/** Only the feed of approvals; the token of the tab may decide. */
const feedOf = () => {
  const listeners: Record<string, (event: object) => void> = {};
  class FakeSocket {
    readyState = 1;
    addEventListener = (type: string, listener: (event: object) => void): void => {
      listeners[type] = listener;
    };
    send = (): void => undefined;
    close = (): void => undefined;
  }
  vi.stubGlobal('WebSocket', FakeSocket);
  return {
    isOpen: () => listeners['message'] !== undefined,
    tell: (waiting: number) =>
      listeners['message']?.({
        data: JSON.stringify({ type: 'approvals', seq: null, sessionId: null, at: '', data: { waiting } }),
      }),
  };
};

const load = () => import('./pending-approvals.ts');

test('a browser whose pages cannot notify is not asked for permission', async () => {
  RefusedNotification.permission = 'default';
  const { allowNotifications, notificationState } = await load();
  expect(notificationState.value).toBe('default');
  await allowNotifications();
  expect([notificationState.value, questions]).toEqual(['unsupported', []]);
});

test('notifications that were allowed and cannot be shown are not called on', async () => {
  RefusedNotification.permission = 'granted';
  const { startNotifications, notificationState } = await load();
  startNotifications();
  await vi.waitFor(() => expect(notificationState.value).toBe('unsupported'));
});

test('calls that come while the list is read cut off no read of it', async () => {
  const shown: string[] = [];
  vi.stubGlobal(
    'Notification',
    class {
      static permission = 'granted';
      constructor(_title: string, { tag }: { readonly tag: string }) {
        shown.push(tag);
      }
      addEventListener = (): void => undefined;
    },
  );
  const feed = feedOf();
  const reads: { readonly signal: AbortSignal; readonly answer: (approvals: readonly object[]) => void }[] =
    [];
  vi.stubGlobal('fetch', (url: string, { signal }: { readonly signal: AbortSignal }) => {
    if (url.endsWith('/access'))
      return Promise.resolve(Response.json({ scope: 'admin', may: ['own:read', 'own:write'] }));
    if (url.endsWith('/auth')) return Promise.resolve(Response.json({ login: false, signedIn: false }));
    if (!url.includes('/approvals')) return Promise.resolve(Response.json({ ticket: 't' }));
    return new Promise((resolve) => {
      reads.push({ signal, answer: (approvals) => resolve(Response.json({ approvals })) });
    });
  });
  const { startAccess, signInWith, signOut } = await import('../access/access.ts');
  const { startNotifications } = await load();
  startAccess();
  await signInWith('sp_feed');
  await vi.waitFor(() => expect(feed.isOpen()).toBe(true));
  startNotifications();
  await vi.waitFor(() => expect(reads).toHaveLength(1));
  for (const waiting of [1, 2]) {
    feed.tell(waiting);
    await nextTick();
  }
  expect([reads.length, reads[0]?.signal.aborted]).toEqual([1, false]);
  reads[0]?.answer([row]);
  await vi.waitFor(() => expect(shown).toEqual(['s u c']));
  await vi.waitFor(() => expect(reads).toHaveLength(2));
  reads[1]?.answer([row, { ...row, callId: 'd' }]);
  await vi.waitFor(() => expect(shown).toEqual(['s u c', 's u d']));
  signOut();
});
