/**
 * The pages and their addresses. Each is fetched when it is first visited.
 *
 * Addresses live in the fragment: the files come from a bucket, which knows no address but their names. A fragment
 * that carries a token is a sign-in, not a page.
 */
import { createRouter, createWebHashHistory, type RouteRecordRaw } from 'vue-router';
import { type Need, takeLink } from './access/access.ts';
import { rememberedSession } from './access/remembered.ts';
import type { IconName } from './components/icon-paths.ts';

declare module 'vue-router' {
  interface RouteMeta {
    /** Of the window. */
    readonly title: string;
    /** What the page needs to be of use; who has it not is told so instead. */
    readonly needs?: Need;
  }
}

/** The entries of the sidebar, in its order. */
export const navigation = [
  { name: 'chat', label: 'Chat', icon: 'chat', needs: 'own:read' },
  { name: 'approvals', label: 'Approvals', icon: 'arch', needs: 'own:write' },
  { name: 'sessions', label: 'Sessions', icon: 'sessions', needs: 'own:read' },
  { name: 'projects', label: 'Projects', icon: 'projects', needs: 'own:read' },
  { name: 'schedules', label: 'Schedules', icon: 'schedules', needs: 'own:read' },
  { name: 'servers', label: 'MCP servers', icon: 'servers', needs: 'own:read' },
  { name: 'webhooks', label: 'Webhooks', icon: 'webhook', needs: 'own:read' },
  { name: 'models', label: 'Models', icon: 'models', needs: 'global:read' },
  { name: 'tokens', label: 'Tokens', icon: 'tokens', needs: 'admin' },
  { name: 'operator', label: 'Operator', icon: 'operator', needs: 'own:read' },
  { name: 'audit', label: 'Audit log', icon: 'audit', needs: 'admin:read' },
] as const satisfies readonly { name: string; label: string; icon: IconName; needs: Need }[];

const pages: RouteRecordRaw[] = [
  // Whoever signs in again in the same tab comes back to where they were.
  { path: '/', redirect: () => `/chat/${rememberedSession() ?? ''}` },
  {
    path: '/chat/:sessionId?',
    name: 'chat',
    component: () => import('./pages/chat/chat-page.vue'),
    meta: { title: 'Chat', needs: 'own:read' },
  },
  {
    path: '/approvals',
    name: 'approvals',
    component: () => import('./pages/approvals/approvals-page.vue'),
    meta: { title: 'Approvals', needs: 'own:write' },
  },
  {
    path: '/sessions',
    name: 'sessions',
    component: () => import('./pages/sessions/sessions-page.vue'),
    meta: { title: 'Sessions', needs: 'own:read' },
  },
  {
    path: '/sessions/:sessionId/sandbox',
    name: 'sandbox',
    component: () => import('./pages/sandbox/sandbox-page.vue'),
    meta: { title: 'Sandbox', needs: 'own:read' },
  },
  {
    path: '/projects/:projectId?',
    name: 'projects',
    component: () => import('./pages/projects/projects-page.vue'),
    meta: { title: 'Projects', needs: 'own:read' },
  },
  {
    path: '/schedules/:scheduleId?',
    name: 'schedules',
    component: () => import('./pages/schedules/schedules-page.vue'),
    meta: { title: 'Schedules', needs: 'own:read' },
  },
  {
    path: '/servers/:server?',
    name: 'servers',
    component: () => import('./pages/servers/servers-page.vue'),
    meta: { title: 'MCP servers', needs: 'own:read' },
  },
  {
    path: '/webhooks',
    name: 'webhooks',
    component: () => import('./pages/webhooks/webhooks-page.vue'),
    meta: { title: 'Webhooks', needs: 'own:read' },
  },
  {
    path: '/models',
    name: 'models',
    component: () => import('./pages/models/models-page.vue'),
    meta: { title: 'Models', needs: 'global:read' },
  },
  {
    path: '/tokens',
    name: 'tokens',
    component: () => import('./pages/tokens/tokens-page.vue'),
    meta: { title: 'Tokens', needs: 'admin' },
  },
  {
    path: '/operator',
    name: 'operator',
    component: () => import('./pages/operator/operator-page.vue'),
    meta: { title: 'Operator', needs: 'own:read' },
  },
  {
    path: '/audit',
    name: 'audit',
    component: () => import('./pages/audit/audit-page.vue'),
    meta: { title: 'Audit log', needs: 'admin:read' },
  },
  {
    path: '/:unknown(.*)*',
    name: 'unknown',
    component: () => import('./pages/unknown-page.vue'),
    meta: { title: 'Not found' },
  },
];

const tokenAddress = /^\/token=(\S+)$/;

export const router = createRouter({ history: createWebHashHistory(), routes: pages });

// The router listens to the address once its first page is there; what is opened before that would be lost. It must
// know at once, or the first page takes the address back in between: hashchange is told later than popstate.
const follow = (): void => void router.replace(location.hash.slice(1));
const stopFollowing = (): void => removeEventListener('popstate', follow);
addEventListener('popstate', follow);
router.isReady().then(stopFollowing, stopFollowing);

// A link with a token, opened in a tab that is signed in already, changes the fragment and loads nothing.
router.beforeEach((to, from) => {
  const [, given] = tokenAddress.exec(to.path) ?? [];
  if (given === undefined) return true;
  takeLink(given);
  // By force, since a page that stays where it is would leave the token in the address bar.
  const { path, query } = from.matched.length === 0 ? { path: '/', query: {} } : from;
  return { path, query, replace: true, force: true };
});

export const documentTitle = (title: string): string => `${title} · Sallyport`;
router.afterEach(({ meta }) => {
  document.title = documentTitle(meta.title);
});
