/**
 * The cost of the web app for a browser: the compressed JavaScript until a person can write, and the smoothness of a long
 * log beside a short one.
 *
 * A frame's time belongs to the machine; the promise is that it does not grow with the log.
 */
import { gzipSync } from 'node:zlib';
import { type Bench, openChromium } from './chromium.ts';
import { type FrameTimes, measureLog } from './long-log.ts';
import { type BenchResult, table } from './report.ts';

const firstLoadBytesMax = 250_000;
const shortEvents = 1000;
const longEvents = 10_000;
/** Of the 95th percentile; below the second nobody sees a difference. */
const growthMax = 2;
const smoothMs = 34;

export const webCost = async (): Promise<BenchResult> => {
  await using bench = await openChromium();
  const scripts = await firstLoad(bench);
  const bytes = scripts.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
  const [short, long] = [await measureLog(bench, shortEvents), await measureLog(bench, longEvents)];
  const rows = [short, long].flatMap(({ events, scrolling, arriving }) => [
    [`${events} events, scrolling`, ...cells(scrolling)],
    [`${events} events, more arriving`, ...cells(arriving)],
  ]);
  const isSmooth = (['scrolling', 'arriving'] as const).every(
    (how) => long[how].p95Ms <= Math.max(smoothMs, growthMax * short[how].p95Ms),
  );
  const largest = scripts.toSorted((one, other) => other.gzipBytes - one.gzipBytes).slice(0, 5);
  return {
    title: 'the web app in Chromium',
    text: [
      table(
        ['script', 'bytes, gzip'],
        [...largest.map(({ name, gzipBytes }) => [name, gzipBytes]), [`all ${scripts.length}`, bytes]],
      ),
      table(['frames, ms', 'half', '95 %', 'longest'], rows),
    ].join('\n\n'),
    floor: `first load at most ${firstLoadBytesMax} bytes; 95 % of frames with ${longEvents} events within ${growthMax} times those with ${shortEvents}, or ${smoothMs} ms`,
    isMet: bytes <= firstLoadBytesMax && isSmooth,
  };
};

const cells = ({ p50Ms, p95Ms, highestMs }: FrameTimes): readonly string[] =>
  [p50Ms, p95Ms, highestMs].map((ms) => ms.toFixed(1));

type Script = { readonly name: string; readonly gzipBytes: number };

const firstLoad = async ({ url, token, newContext }: Bench): Promise<readonly Script[]> => {
  const context = await newContext();
  const page = await context.newPage();
  const sizes: Promise<Script>[] = [];
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'script') return;
    const name = new URL(response.url()).pathname.split('/').at(-1) ?? '';
    sizes.push(response.body().then((body) => ({ name, gzipBytes: gzipSync(body).byteLength })));
  });
  await page.goto(`${url}/#token=${token}`);
  await page.getByLabel('Message').waitFor();
  await page.waitForLoadState('networkidle');
  const scripts = await Promise.all(sizes);
  await context.close();
  return scripts;
};
