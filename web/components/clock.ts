/** The time that all relative times of the page are told by: one clock, which ticks while somebody looks. */
import { type ShallowRef, shallowRef } from 'vue';

const tickMs = 5000;
const time = shallowRef(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') time.value = Date.now();
}, tickMs);

export const now: Readonly<ShallowRef<number>> = time;
