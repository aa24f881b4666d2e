/**
 * Rendering pace: once per animation frame at most, less often when rendering is slow, so that half of the time stays for
 * incoming frames. A page in the background gets no animation frames, and a timer updates its title.
 */
const hiddenPauseMs = 500;
const pauseMsMax = 1000;
/** Duration of an idle frame. */
const quietFrameMs = 20;

export const paced = (draw: () => void): (() => void) => {
  let isDue = false;
  let pauseMs = 0;

  const drawNow = (): void => {
    isDue = false;
    const begun = performance.now();
    draw();
    // The next animation frame begins after the layout.
    requestAnimationFrame(() => {
      const tookMs = performance.now() - begun;
      pauseMs = tookMs > quietFrameMs ? Math.min(tookMs, pauseMsMax) : 0;
    });
  };

  return () => {
    if (isDue) return;
    isDue = true;
    if (document.visibilityState === 'hidden') setTimeout(drawNow, hiddenPauseMs);
    else if (pauseMs === 0) requestAnimationFrame(drawNow);
    else setTimeout(() => requestAnimationFrame(drawNow), pauseMs);
  };
};
