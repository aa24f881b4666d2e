/** Whole seconds until or since a moment, counted while there is one; 0 without one. Ends with its component. */
import { computed, onScopeDispose, type Ref, shallowRef, watch } from 'vue';

const tickMs = 1000;

/** Epoch milliseconds, or undefined when there is nothing to count. */
type Moment = () => number | undefined;

const counted = (at: Moment, secondsOf: (moment: number, nowMs: number) => number): Readonly<Ref<number>> => {
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
    return moment === undefined ? 0 : Math.max(0, secondsOf(moment, nowMs.value));
  });
};

export const secondsUntil = (at: Moment): Readonly<Ref<number>> =>
  counted(at, (moment, nowMs) => Math.ceil((moment - nowMs) / 1000));

export const secondsSince = (at: Moment): Readonly<Ref<number>> =>
  counted(at, (moment, nowMs) => Math.floor((nowMs - moment) / 1000));
