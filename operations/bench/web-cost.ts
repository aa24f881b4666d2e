/**
 * The cost of the web app for a browser: the compressed JavaScript until a person can write, and the smoothness of a long
 * log beside a short one.
 *
 * A frame's time belongs to the machine; the promise is that it does not grow with the log. The server retains a
 * thousand events of a session; a tab that stays open has seen more. So the socket is simulated.
 */

import { gzipSync } from 'node:zlib';
import type { Page, WebSocketRoute } from 'playwright-core';
import { type Bench, openChromium } from './chromium.ts';
import { type BenchResult, table } from './report.ts';
import { measureSessionList } from './web-sessions.ts';
import { measureShapes, type OpenLog, openCpuMeter } from './web-work.ts';

const firstLoadBytesMax = 180_000;
const shortEvents = 1000;
const longEvents = 10_000;
/** Of the 95th percentile; below the second a reader sees no difference. */
const growthMax = 2;
const smoothMs = 34;
/** Of the page's own CPU for a log: over the times that it is longer. */
const loadSpareMax = 1.5;
/** Of the page's own CPU for a frame of scrolling; below the second nothing is late. */
const frameCpuMs = 8;

export const webCost = async (): Promise<BenchResult> => {
  await using bench = await openChromium();
  const scripts = await firstLoad(bench);
  const bytes = scripts.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
  const [short, long] = [await measureLog(bench, shortEvents), await measureLog(bench, longEvents)];
  const list = await measureSessionList(bench);
  const shapes = await measureShapes(() => openLog(bench));
  const isLight =
    long.loadCpuSeconds <= loadSpareMax * (longEvents / shortEvents) * short.loadCpuSeconds &&
    long.frameCpuMs <= Math.max(frameCpuMs, growthMax * short.frameCpuMs);
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
      table(
        ['CPU of the page', 'loading, s', 'a frame of scrolling, ms'],
        [short, long].map((log) => [
          `${log.events} events`,
          log.loadCpuSeconds.toFixed(2),
          log.frameCpuMs.toFixed(1),
        ]),
      ),
      shapes.text,
      list.text,
    ].join('\n\n'),
    floor: `first load at most ${firstLoadBytesMax} bytes; 95 % of frames with ${longEvents} events within ${growthMax} times those with ${shortEvents}, or ${smoothMs} ms; CPU of loading within ${loadSpareMax} times the events, of a frame within ${growthMax} times, or ${frameCpuMs} ms; ${shapes.floor}; ${list.floor}`,
    isMet: bytes <= firstLoadBytesMax && isSmooth && isLight && shapes.isMet && list.isMet,
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

const eventsPerTurn = 5;
const arrivingEvents = 60;
const arrivalMs = 16;
const scrolledFrames = 150;

/** The percentile of what a screen waited for its next frame, in milliseconds. */
type FrameTimes = { readonly p50Ms: number; readonly p95Ms: number; readonly highestMs: number };
type LongLog = {
  readonly events: number;
  readonly scrolling: FrameTimes;
  readonly arriving: FrameTimes;
  readonly loadCpuSeconds: number;
  readonly frameCpuMs: number;
};

const measureLog = async (bench: Bench, events: number): Promise<LongLog> => {
  const { page, send, close } = await openLog(bench);
  const loadCpu = await openCpuMeter(page);
  for (let seq = 0; seq < events; seq += 1) send(frameOf(seq));
  await page.getByText(`Answer ${Math.floor(events / eventsPerTurn) - 1} of`).waitFor();
  const loadCpuSeconds = await loadCpu();
  const scrollCpu = await openCpuMeter(page);
  const scrolling = await measureFrames(page, 'up');
  const frameCpuMs = ((await scrollCpu()) * 1000) / scrolledFrames;
  await page.getByRole('button', { name: 'Newest' }).click();
  const measuring = measureFrames(page, 'stay');
  for (let seq = events; seq < events + arrivingEvents; seq += 1) {
    send(frameOf(seq));
    await new Promise((resolve) => setTimeout(resolve, arrivalMs));
  }
  const arriving = await measuring;
  await close();
  return { events, scrolling, arriving, loadCpuSeconds, frameCpuMs };
};

/** A page of a new session, whose socket is answered here. */
const openLog = async (bench: Bench): ReturnType<OpenLog> => {
  const context = await bench.newContext();
  const page = await context.newPage();
  const answer = await fetch(`${bench.url}/api/sessions`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: `Bearer ${bench.token}` },
  });
  const { id } = (await answer.json()) as { id: string };
  const opened = Promise.withResolvers<WebSocketRoute>();
  await page.routeWebSocket(/\/ws\?sessionId=/, (route) => opened.resolve(route));
  await page.goto(`${bench.url}/#token=${bench.token}`);
  await page.getByLabel('Message').waitFor();
  await page.goto(`${bench.url}/#/chat/${id}`);
  const socket = await opened.promise;
  const send = (frame: object): void => socket.send(JSON.stringify({ at: at(0), ...frame }));
  const ready = { provider: 'demo', model: 'demo', sessionId: id, status: 'idle', lastSeq: -1 };
  send({ type: 'system:ready', seq: null, data: ready });
  return { page, send, close: () => context.close() };
};

const at = (seq: number): string => new Date(1_800_000_000_000 + seq * 1000).toISOString();

const code = '```ts\nexport const answer = (question: string): number => question.length * 42;\n```';

/** Five to a turn: asked, called, put out, answered, ended. */
const frameOf = (seq: number): object => {
  const turn = Math.floor(seq / eventsPerTurn);
  const callId = `call-${turn}`;
  const entries = [
    { type: 'message', data: { messageId: `q-${turn}`, role: 'user', text: `Question ${turn}` } },
    {
      type: 'tool:call',
      data: { callId, name: 'execute_command', args: { command: `ls -la /workspace/${turn}` } },
    },
    {
      type: 'tool:output',
      data: {
        callId,
        name: 'execute_command',
        content: [{ type: 'text', text: 'a line of output\n'.repeat(8) }],
        durationMs: 12,
      },
    },
    {
      type: 'message',
      data: { messageId: `a-${turn}`, role: 'assistant', text: `Answer ${turn} of *many*.\n\n${code}` },
    },
    {
      type: 'completion',
      data: {
        turnId: `t-${turn}`,
        stopReason: 'end_turn',
        text: '',
        usage: { inputTokens: 9, outputTokens: 9 },
      },
    },
  ];
  return { ...entries[seq % eventsPerTurn], seq, at: at(seq) };
};

const measureFrames = async (page: Page, how: 'up' | 'stay'): Promise<FrameTimes> => {
  const times = await page.evaluate(framesIn, { how, frames: scrolledFrames });
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? 0;
  return { p50Ms: at(0.5), p95Ms: at(0.95), highestMs: at(1) };
};

/** Runs in the page, as text: what it names of a browser is not known here. */
const framesIn = new Function(
  'wish',
  `return new Promise((resolve) => {
    const scroller = document.querySelector('.scroller');
    const times = [];
    let last = performance.now();
    const step = (now) => {
      times.push(now - last);
      last = now;
      if (wish.how === 'up') scroller.scrollTop -= 240;
      if (times.length < wish.frames) requestAnimationFrame(step);
      else resolve(times.slice(1));
    };
    requestAnimationFrame(step);
  });`,
) as (wish: { readonly how: string; readonly frames: number }) => Promise<number[]>;
