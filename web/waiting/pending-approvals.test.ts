import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import 'vue';

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
