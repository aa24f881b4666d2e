/**
 * A guard against accidental decisions: true while something has been in view too briefly. A person did not mean to press
 * a button that has just appeared or changed under the pointer.
 */
import { onMounted, onScopeDispose, type ShallowRef, shallowRef, watch } from 'vue';

const justShownMs = 1000;

/** True for a second after the start, after each change of `what`, and after the page came into view again. */
export const useJustShown = (what: () => unknown): Readonly<ShallowRef<boolean>> => {
  const isJustShown = shallowRef(true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restart = (): void => {
    isJustShown.value = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      isJustShown.value = false;
    }, justShownMs);
  };
  const onVisibility = (): void => {
    if (document.visibilityState === 'visible') restart();
  };
  // At once, since what has changed must not be pressed before it is drawn either; the second begins when it is.
  watch(what, restart, { immediate: true, flush: 'sync' });
  watch(what, restart, { flush: 'post' });
  onMounted(restart);
  document.addEventListener('visibilitychange', onVisibility);
  onScopeDispose(() => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisibility);
  });
  return isJustShown;
};
