/** The title of the session that a page shows: the window is named after it, and a change of it is announced. */
import { onScopeDispose, type ShallowRef, shallowRef, watchEffect } from 'vue';

const shownSession = shallowRef<string>();

/** Title of the session that is shown, once it is known. */
export const sessionTitle: Readonly<ShallowRef<string | undefined>> = shownSession;

/** Names the window after a session, as long as the caller is shown. */
export const useSessionTitle = (title: () => string | undefined): void => {
  watchEffect(() => {
    shownSession.value = title();
  });
  onScopeDispose(() => {
    shownSession.value = undefined;
  });
};
