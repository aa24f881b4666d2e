/** A log of ten thousand events: the page draws the newest, and older ones as a reader comes to them, to the first. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { newPage } from './browser.ts';
import { openDrawnMeter } from './page-work.ts';

const events = 10_000;
/** Four groups of forty. */
const itemsAtEndMax = 160;
const elementsAtEndMax = 6000;
const frames = 200;
/** Of 8,000, on a way of 80,000 pixels: as many again whenever the reader comes near the top. */
const itemsScrolledMax = 4000;

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const entry = (seq: number): readonly [type: string, data: object] => {
  const turn = Math.floor(seq / 5);
  const callId = `call_${turn}`;
  const call = { callId, name: 'execute_command' };
  switch (seq % 5) {
    case 0:
      return ['message', { messageId: `q${turn}`, role: 'user', text: `question ${turn}` }];
    case 1:
      return ['tool:call', { ...call, args: { command: `echo ${turn} | sort` } }];
    case 2:
      return [
        'tool:output',
        { ...call, content: [{ type: 'text', text: `output ${turn}\n`.repeat(4) }], durationMs: 12 },
      ];
    case 3:
      return [
        'message',
        { messageId: `a${turn}`, role: 'assistant', text: `**Answer** \`${turn}\`\n\n- one\n- two` },
      ];
    default:
      return [
        'completion',
        { turnId: `t${turn}`, stopReason: 'end_turn', text: '', usage: { inputTokens: 1, outputTokens: 1 } },
      ];
  }
};

/** A socket in the page itself, which has a long log to tell. */
const serveLog = async (page: Page, sessionId: string): Promise<void> => {
  const at = '2026-11-21T00:00:00.000Z';
  const ready = { provider: 'demo', model: 'demo', sessionId, status: 'idle', lastSeq: events - 1 };
  const texts = [
    { type: 'system:ready', sessionId, seq: null, at, data: ready },
    ...Array.from({ length: events }, (_, seq) => {
      const [type, data] = entry(seq);
      return { type, sessionId, seq, at, data };
    }),
  ].map((frame) => JSON.stringify(frame));
  await page.addInitScript((sent: readonly string[]) => {
    class LongLog extends EventTarget {
      constructor() {
        super();
        const deliver = (from: number): void => {
          for (const data of sent.slice(from, from + 20))
            this.dispatchEvent(new MessageEvent('message', { data }));
          if (from + 20 < sent.length) setTimeout(() => deliver(from + 20), 0);
        };
        setTimeout(() => deliver(0), 0);
      }
      send(): void {}
      close(): void {}
    }
    globalThis.WebSocket = LongLog as unknown as typeof WebSocket;
  }, texts);
};

/** Goes up a little every frame. */
const scrollUp = (page: Page): Promise<void> =>
  page.evaluate(async (count) => {
    const scroller = document.querySelector('[aria-label="Conversation"]');
    if (scroller === null) throw new Error('there is no conversation');
    for (let step = 0; step < count; step += 1) {
      scroller.scrollTop -= 400;
      await new Promise(requestAnimationFrame);
    }
  }, frames);

/** Goes up by leaps until the first event is drawn, and reads what stands there. */
const leapToTop = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const scroller = document.querySelector<HTMLElement>('[aria-label="Conversation"]');
    if (scroller === null) throw new Error('there is no conversation');
    const frame = () => new Promise(requestAnimationFrame);
    for (let leap = 0; leap < 400 && scroller.querySelector('.top button') !== null; leap += 1) {
      scroller.scrollTop = 0;
      await frame();
      await frame();
    }
    scroller.scrollTop = 0;
    for (let settled = 0; settled < 5; settled += 1) await frame();
    return scroller.innerText.slice(0, 200);
  });

test('of ten thousand events the newest are drawn, and older ones as the reader comes to them', async () => {
  const { id } = await cloud.ask<{ readonly id: string }>('/api/sessions', { method: 'POST', body: '{}' });
  const page = await newPage(cloud.url);
  await serveLog(page, id);
  await page.goto(`${cloud.url}/#token=${cloud.token}`);
  await page.getByRole('link', { name: 'Chat' }).waitFor();
  const drawn = await openDrawnMeter(page);
  await page.goto(`${cloud.url}/#/chat/${id}`);
  await page.getByText(`question ${events / 5 - 1}`, { exact: true }).waitFor();
  const { items, elements } = await drawn.read();
  expect(items).toBeLessThanOrEqual(itemsAtEndMax);
  expect(elements).toBeLessThan(elementsAtEndMax);
  await scrollUp(page);
  expect((await drawn.read()).items).toBeLessThan(itemsScrolledMax);
  await drawn.close();
  expect(await leapToTop(page)).toContain('question 0');
}, 300_000);
