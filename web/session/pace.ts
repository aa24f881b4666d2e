/**
 * Draws what changed, once per animation frame at most, and less often when drawing takes long: at least half of the
 * time stays for what comes in. A page in the background gets no frames; its title is kept up by a timer.
 */
const hiddenPauseMs = 500;
const pauseMsMax = 1000;
/** What a frame takes when there is nothing to do. */
const quietFrameMs = 20;

export const paced = (draw: () => void): (() => void) => {
  let isDue = false;
  let pauseMs = 0;

  const drawNow = (): void => {
    isDue = false;
    const begun = performance.now();
    draw();
    // The frame after this one begins when all of it, layout too, is done.
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
