/** Clock of all relative times on the page; it ticks while the page is visible. */
import { type ShallowRef, shallowRef } from 'vue';

const tickMs = 5000;
const time = shallowRef(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') time.value = Date.now();
}, tickMs);

export const now: Readonly<ShallowRef<number>> = time;
