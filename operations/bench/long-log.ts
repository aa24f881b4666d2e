/**
 * A session with a log of any length, and the times between frames of its page while a reader scrolls up and while more
 * events arrive.
 *
 * The server retains a thousand events of a session; a tab that stays open has seen more. So the socket is simulated.
 */
import type { Page, WebSocketRoute } from 'playwright-core';
import type { Bench } from './chromium.ts';

const eventsPerTurn = 5;
const framesPerBatch = 250;
const arrivingEvents = 60;
const arrivalMs = 16;
const scrolledFrames = 150;

/** The percentile of what a screen waited for its next frame, in milliseconds. */
export type FrameTimes = { readonly p50Ms: number; readonly p95Ms: number; readonly highestMs: number };
export type LongLog = {
  readonly events: number;
  readonly scrolling: FrameTimes;
  readonly arriving: FrameTimes;
};

export const measureLog = async (bench: Bench, events: number): Promise<LongLog> => {
  const context = await bench.newContext();
  const page = await context.newPage();
  const answer = await fetch(`${bench.url}/api/sessions`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: `Bearer ${bench.token}` },
  });
  const { id } = (await answer.json()) as { id: string };
  const opened = Promise.withResolvers<WebSocketRoute>();
  await page.routeWebSocket(/\/ws\?/, (route) => opened.resolve(route));
  await page.goto(`${bench.url}/#token=${bench.token}`);
  await page.getByLabel('Message').waitFor();
  await page.goto(`${bench.url}/#/chat/${id}`);
  const socket = await opened.promise;
  const ready = { provider: 'demo', model: 'demo', sessionId: id, status: 'idle', lastSeq: -1 };
  socket.send(JSON.stringify({ type: 'system:ready', seq: null, at: at(0), data: ready }));
  for (let first = 0; first < events; first += framesPerBatch)
    for (let seq = first; seq < Math.min(events, first + framesPerBatch); seq += 1) socket.send(frameOf(seq));
  await page.getByText(`Answer ${Math.floor(events / eventsPerTurn) - 1} of`).waitFor();
  const scrolling = await measureFrames(page, 'up');
  await page.getByRole('button', { name: 'Newest' }).click();
  const measuring = measureFrames(page, 'stay');
  for (let seq = events; seq < events + arrivingEvents; seq += 1) {
    socket.send(frameOf(seq));
    await new Promise((resolve) => setTimeout(resolve, arrivalMs));
  }
  const arriving = await measuring;
  await context.close();
  return { events, scrolling, arriving };
};

const at = (seq: number): string => new Date(1_800_000_000_000 + seq * 1000).toISOString();

const code = '```ts\nexport const answer = (question: string): number => question.length * 42;\n```';

/** Five to a turn: asked, called, put out, answered, ended. */
const frameOf = (seq: number): string => {
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
  return JSON.stringify({ ...entries[seq % eventsPerTurn], seq, at: at(seq) });
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
