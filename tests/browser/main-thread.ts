/** CPU time that a page's own thread has used: a busy machine does not change it, a page that freezes does. */
import type { Page } from 'playwright-core';

/**
 * Opens a meter of the page's thread.
 *
 * @returns reads the seconds of CPU that tasks of the page have used since the call
 *   (https://chromedevtools.github.io/devtools-protocol/tot/Performance/, time domain `threadTicks`).
 */
export const openCpuMeter = async (page: Page): Promise<() => Promise<number>> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const taskSeconds = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const duration = metrics.find(({ name }) => name === 'TaskDuration');
    if (duration === undefined) throw new Error('the browser does not measure its tasks');
    return duration.value;
  };
  const begun = await taskSeconds();
  return async () => (await taskSeconds()) - begun;
};
