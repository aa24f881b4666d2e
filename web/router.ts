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
import EmptyState from './components/empty-state.vue';
import { failedPage } from './shell/window.ts';

declare module 'vue-router' {
  interface RouteMeta {
    /** Title of the window. */
    readonly title: string;
    /** Permission of the page; without it the shell shows why the page is closed. */
    readonly permission?: Permission;
  }
}

const pages: RouteRecordRaw[] = [
  // A new sign-in in the same tab returns to the open session.
  { path: '/', redirect: () => `/chat/${rememberedSession() ?? ''}` },
  {
    path: '/chat/:sessionId?',
    name: 'chat',
    component: () => import('./pages/chat/chat-page.vue'),
    meta: { title: 'Chat', permission: 'own:read' },
  },
  {
    path: '/approvals',
    name: 'approvals',
    component: () => import('./pages/approvals/approvals-page.vue'),
    meta: { title: 'Approvals', permission: 'own:write' },
  },
  {
    path: '/sessions',
    name: 'sessions',
    component: () => import('./pages/sessions/sessions-page.vue'),
    meta: { title: 'Sessions', permission: 'own:read' },
  },
  {
    path: '/sessions/:sessionId/sandbox',
    name: 'sandbox',
    component: () => import('./pages/sandbox/sandbox-page.vue'),
    meta: { title: 'Sandbox', permission: 'own:read' },
  },
  {
    path: '/projects/:projectId?',
    name: 'projects',
    component: () => import('./pages/projects/projects-page.vue'),
    meta: { title: 'Projects', permission: 'own:read' },
  },
  {
    path: '/schedules/:scheduleId?',
    name: 'schedules',
    component: () => import('./pages/schedules/schedules-page.vue'),
    meta: { title: 'Schedules', permission: 'own:read' },
  },
  {
    path: '/servers/:server?',
    name: 'servers',
    component: () => import('./pages/servers/servers-page.vue'),
    meta: { title: 'MCP servers', permission: 'own:read' },
  },
  {
    path: '/webhooks',
    name: 'webhooks',
    component: () => import('./pages/webhooks/webhooks-page.vue'),
    meta: { title: 'Webhooks', permission: 'own:read' },
  },
  {
    path: '/models',
    name: 'models',
    component: () => import('./pages/models/models-page.vue'),
    meta: { title: 'Models', permission: 'global:read' },
  },
  {
    path: '/usage',
    name: 'usage',
    component: () => import('./pages/usage/usage-page.vue'),
    meta: { title: 'Usage', permission: 'own:read' },
  },
  {
    path: '/tokens',
    name: 'tokens',
    component: () => import('./pages/tokens/tokens-page.vue'),
    meta: { title: 'Tokens', permission: 'admin' },
  },
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
  {
    path: '/operator',
    name: 'operator',
    component: () => import('./pages/operator/operator-page.vue'),
    meta: { title: 'Operator', permission: 'own:read' },
  },
  {
    path: '/audit',
    name: 'audit',
    component: () => import('./pages/audit/audit-page.vue'),
    meta: { title: 'Audit log', permission: 'admin:read' },
  },
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

router.afterEach(() => {
  failedPage.value = undefined;
});

router.onError((_, { fullPath }) => {
  failedPage.value = fullPath;
});
