/**
 * The window of the app: its title, which names the session and the page, and its icon, both with the number of pending approvals; the page
 * that could not be loaded; and its theme, stored in this browser.
 */
import { computed, onScopeDispose, type ShallowRef, shallowRef, watch } from 'vue';
import { useRoute } from 'vue-router';
import { windowTitle } from '../components/session-title.ts';
import { waitingCalls } from '../session/live-session.ts';
import { waitingCount } from '../waiting/pending-approvals.ts';

/** Calls that a person is asked about now, one a session: of all sessions, or of the open one while the total is unknown. */
export const waitingShown = computed(() => waitingCount.value ?? Math.min(1, waitingCalls.value));

/** Address of a page whose code did not arrive: the network failed, or a newer version of the app was deployed. */
export const failedPage = shallowRef<string>();

/** From the server: the browser keeps a failed module. */
export const loadFailedPage = (): void => {
  location.hash = failedPage.value ?? '';
  location.reload();
};

const markedIcon = new URL('../favicon-waiting.svg', import.meta.url).href;

export const usePageTitle = (): void => {
  const route = useRoute();
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const plainIcon = icon?.href ?? '';
  const show = (title: string, waiting: number): void => {
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
    if (icon) icon.href = waiting > 0 ? markedIcon : plainIcon;
  };
  watch([() => windowTitle(route.meta.title), waitingShown] as const, (now) => show(...now), {
    immediate: true,
  });
  // A sign-out leaves no name of a session behind.
  onScopeDispose(() => show(windowTitle(undefined), 0));
};

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const themeKey = 'sallyport.theme';
const chosen = shallowRef<Theme>('system');

export const theme: Readonly<ShallowRef<Theme>> = chosen;

const isTheme = (text: string | null): text is Theme => themes.some((known) => known === text);

export const chooseTheme = (next: Theme): void => {
  chosen.value = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  try {
    localStorage.setItem(themeKey, next);
  } catch {
    // A browser may forbid storage: the choice holds until the reload.
  }
};

export const startTheme = (): void => {
  try {
    const stored = localStorage.getItem(themeKey);
    if (isTheme(stored)) chooseTheme(stored);
  } catch {
    // No storage: the system theme.
  }
};
