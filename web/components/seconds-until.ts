/** Whole seconds until a moment, counted down while there is one; 0 afterwards. Ends with its component. */
import { computed, onScopeDispose, type Ref, shallowRef, watch } from 'vue';

const tickMs = 1000;

/** `at`: epoch milliseconds, or undefined when nothing is awaited. */
export const secondsUntil = (at: () => number | undefined): Readonly<Ref<number>> => {
  const nowMs = shallowRef(Date.now());
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = (): void => {
    nowMs.value = Date.now();
  };
  watch(
    at,
    (moment) => {
      clearInterval(timer);
      tick();
      if (moment !== undefined) timer = setInterval(tick, tickMs);
    },
    { immediate: true },
  );
  onScopeDispose(() => clearInterval(timer));
  return computed(() => {
    const moment = at();
    return moment === undefined ? 0 : Math.max(0, Math.ceil((moment - nowMs.value) / 1000));
  });
};
