/** Names of the window: the title of the session that a page shows, whose change is announced, and the heading of the page. */
import { onScopeDispose, type ShallowRef, shallowRef, watchEffect } from 'vue';

const shownSession = shallowRef<string>();

/** Title of the session that is shown, once it is known. */
export const sessionTitle: Readonly<ShallowRef<string | undefined>> = shownSession;

const shownHeading = shallowRef<string>();

/** For as long as the caller is shown. */
const showIn = (shown: ShallowRef<string | undefined>, name: () => string | undefined): void => {
  watchEffect(() => {
    shown.value = name();
  });
  onScopeDispose(() => {
    shown.value = undefined;
  });
};

export const useSessionTitle = (title: () => string | undefined): void => showIn(shownSession, title);
export const usePageHeading = (heading: () => string): void => showIn(shownHeading, heading);

/** Of the window, on a page that the navigation calls so. */
export const windowTitle = (page: string | undefined): string => {
  const names = shownSession.value === undefined ? [shownHeading.value, page] : [shownSession.value];
  return [...new Set(names), 'Sallyport'].filter(Boolean).join(' · ');
};
