/** A call that is made at most once in a time: each key that does not arrive would be a notice of its own. */
export const atMostEvery = (act: () => void, everyMs: number): (() => void) => {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - lastMs < everyMs) return;
    lastMs = now;
    act();
  };
};
