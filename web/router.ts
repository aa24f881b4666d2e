/**
 * Routes of the app. Each page is loaded on its first visit.
 *
 * Routes live in the URL fragment, because the files come from a bucket that serves only their names. A fragment with a
 * token is a sign-in link, not a page.
 */
import { h } from 'vue';
import { createRouter, createWebHashHistory, type RouteRecordRaw, RouterLink } from 'vue-router';
import { type Permission, takeLink } from './access/access.ts';
import { rememberedSession } from './access/remembered.ts';
import { dismissConfirmation } from './components/confirm-dialog.vue';
import EmptyState from './components/empty-state.vue';
import { navigation } from './shell/navigation.ts';
import { failedPage } from './shell/window.ts';

declare module 'vue-router' {
  interface RouteMeta {
    /** Title of the window. */
    readonly title: string;
    /** Permission of the page; without it the shell shows why the page is closed. */
    readonly permission?: Permission;
  }
}

type Navigated = (typeof navigation)[number];

/** A page of the navigation, which has its title and its permission. */
const page = (
  name: Navigated['name'],
  path: string,
  component: NonNullable<RouteRecordRaw['component']>,
): RouteRecordRaw => {
  const { label, permission } = navigation.find((one) => one.name === name) as Navigated;
  return { path, name, component, meta: { title: label, permission } };
};

const pages: RouteRecordRaw[] = [
  // A new sign-in in the same tab returns to the open session.
  { path: '/', redirect: () => `/chat/${rememberedSession() ?? ''}` },
  page('chat', '/chat/:sessionId?', () => import('./pages/chat/chat-page.vue')),
  page('approvals', '/approvals', () => import('./pages/approvals/approvals-page.vue')),
  page('sessions', '/sessions', () => import('./pages/sessions/sessions-page.vue')),
  {
    path: '/sessions/:sessionId/sandbox',
    name: 'sandbox',
    component: () => import('./pages/sandbox/sandbox-page.vue'),
    meta: { title: 'Sandbox', permission: 'own:read' },
  },
  page('projects', '/projects/:projectId?', () => import('./pages/projects/projects-page.vue')),
  page('schedules', '/schedules/:scheduleId?', () => import('./pages/schedules/schedules-page.vue')),
  page('servers', '/servers/:server?', () => import('./pages/servers/servers-page.vue')),
  page('webhooks', '/webhooks', () => import('./pages/webhooks/webhooks-page.vue')),
  page('models', '/models', () => import('./pages/models/models-page.vue')),
  page('usage', '/usage', () => import('./pages/usage/usage-page.vue')),
  page('tokens', '/tokens', () => import('./pages/tokens/tokens-page.vue')),
  {
    path: '/connect',
    name: 'connect',
    component: () => import('./pages/connections/connect-page.vue'),
    meta: { title: 'Connect a client', permission: 'own:read' },
  },
  {
    path: '/connections',
    name: 'connections',
    component: () => import('./pages/connections/connections-page.vue'),
    meta: { title: 'Connections', permission: 'own:read' },
  },
  page('operator', '/operator', () => import('./pages/operator/operator-page.vue')),
  page('audit', '/audit', () => import('./pages/audit/audit-page.vue')),
  {
    path: '/:unknown(.*)*',
    name: 'unknown',
    component: {
      render: () =>
        h(EmptyState, { title: 'Page not found', icon: 'arch' }, () =>
          h(RouterLink, { to: '/' }, () => 'Go to chat'),
        ),
    },
    meta: { title: 'Not found' },
  },
];

const tokenAddress = /^\/token=(\S+)$/;

export const router = createRouter({ history: createWebHashHistory(), routes: pages });

// The router listens to the address only after its first page has loaded, so a link that opens before would be lost.
// popstate, because hashchange fires later and the first page would restore its own address in between.
const follow = (): void => void router.replace(location.hash.slice(1));
const stopFollowing = (): void => removeEventListener('popstate', follow);
addEventListener('popstate', follow);
router.isReady().then(stopFollowing, stopFollowing);

// A sign-in link that opens in a signed-in tab only changes the fragment.
router.beforeEach((to, from) => {
  const [, given] = tokenAddress.exec(to.path) ?? [];
  if (given === undefined) return true;
  takeLink(given);
  // Forced: a navigation to the same page would leave the token in the address bar.
  const { path, query } = from.matched.length === 0 ? { path: '/', query: {} } : from;
  return { path, query, replace: true, force: true };
});

router.afterEach((to, from, failure) => {
  failedPage.value = undefined;
  // A question whether to leave belongs to a navigation that goes on.
  if (failure === undefined && to.path !== from.path) dismissConfirmation();
});

router.onError((_, { fullPath }) => {
  failedPage.value = fullPath;
});
