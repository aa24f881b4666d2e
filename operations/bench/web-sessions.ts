/**
 * The list of a thousand sessions in Chromium: opened, scrolled and searched, and left alone for a while.
 *
 * Counted are the frames over 50 ms, which a person sees as a stop, beside those of an empty page of the same browser, and the
 * requests of an idle page: they must not grow with the list.
 */
import type { Page } from 'playwright-core';
import type { Bench } from './chromium.ts';
import { table } from './report.ts';

const sessionCount = 1000;
const madeAtOnce = 10;
const pageSessions = 100;
const scrolledFrames = 150;
const longFrameMs = 50;
/** Of all frames, over the share of the empty page. */
const longShareMax = 0.05;
const idleMs = 12_000;
/** Two of the list at each refresh of four seconds, and as many of the rest of the app. */
const idleRequestsMax = 16;

type Frames = { readonly long: number; readonly all: number };

export type SessionListCost = { readonly text: string; readonly floor: string; readonly isMet: boolean };

export const measureSessionList = async (bench: Bench): Promise<SessionListCost> => {
  await makeSessions(bench);
  const context = await bench.newContext();
  const empty = await framesWhile(await context.newPage(), scroll);
  const page = await context.newPage();
  await page.goto(`${bench.url}/#token=${bench.token}`);
  await page.getByLabel('Message').waitFor();
  await page.goto(`${bench.url}/#/sessions`);
  const short = await idleRequests(page, pageSessions);
  for (let shown = 2 * pageSessions; shown <= sessionCount; shown += pageSessions) {
    await page.getByRole('button', { name: 'Older sessions' }).click();
    await shows(page, shown);
  }
  const scrolled = await framesWhile(page, scroll);
  const searched = await framesWhile(page, search);
  await page.getByRole('searchbox', { name: 'Search' }).fill('');
  const long = await idleRequests(page, sessionCount);
  await context.close();
  const share = ({ long: frames, all }: Frames): number => frames / all - empty.long / empty.all;
  return {
    text: table(
      ['sessions', `frames over ${longFrameMs} ms`, 'frames', `requests in ${idleMs / 1000} s alone`],
      [
        ['an empty page', empty.long, empty.all, ''],
        [`${sessionCount}, scrolling`, scrolled.long, scrolled.all, ''],
        [`${sessionCount}, searching`, searched.long, searched.all, ''],
        [`${pageSessions}, left alone`, '', '', short],
        [`${sessionCount}, left alone`, '', '', long],
      ],
    ),
    floor: `with ${sessionCount} sessions at most ${100 * longShareMax} % more frames over ${longFrameMs} ms than an empty page, and ${idleRequestsMax} requests in ${idleMs / 1000} s`,
    isMet: [scrolled, searched].every((frames) => share(frames) <= longShareMax) && long <= idleRequestsMax,
  };
};

const makeSessions = async ({ url, token }: Bench): Promise<void> => {
  const ask = async (path: string, init: RequestInit): Promise<{ readonly id: string }> => {
    const answer = await fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { readonly id: string };
  };
  const make = async (number: number): Promise<void> => {
    const { id } = await ask('/api/sessions', { method: 'POST', body: '{}' });
    await ask(`/api/sessions/${id}`, {
      method: 'PATCH',
      body: JSON.stringify({ title: `session-${number}` }),
    });
  };
  for (let first = 0; first < sessionCount; first += madeAtOnce)
    await Promise.all(Array.from({ length: madeAtOnce }, (_, index) => make(first + index)));
};

const shows = (page: Page, count: number): Promise<void> =>
  page.getByText(new RegExp(`^${count} of `)).waitFor();

/** Records the times of all frames while something is done. */
const framesWhile = async (page: Page, act: (page: Page) => Promise<unknown>): Promise<Frames> => {
  await page.evaluate(`{
    const recorded = globalThis.recorded = [];
    let last = performance.now();
    const step = (now) => { recorded.push(now - last); last = now; requestAnimationFrame(step); };
    requestAnimationFrame(step);
  }`);
  await act(page);
  const frames = await page.evaluate<number[]>('globalThis.recorded.slice(1)');
  return { long: frames.filter((ms) => ms > longFrameMs).length, all: frames.length };
};

const scroll = (page: Page): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const scroller = document.querySelector('main') ?? document.documentElement;
    let left = ${scrolledFrames};
    const step = () => {
      scroller.scrollTop += 200;
      left -= 1;
      if (left > 0) requestAnimationFrame(step); else resolve();
    };
    requestAnimationFrame(step);
  })`);

/** Of all titles, 111 have it. */
const sought = 'session-7';
const soughtCount = 111;

const search = async (page: Page): Promise<void> => {
  await page.getByRole('searchbox', { name: 'Search' }).pressSequentially(sought, { delay: 60 });
  await shows(page, soughtCount);
};

const idleRequests = async (page: Page, shown: number): Promise<number> => {
  await shows(page, shown);
  let requests = 0;
  const count = (): void => {
    requests += 1;
  };
  page.on('request', count);
  await page.waitForTimeout(idleMs);
  page.off('request', count);
  return requests;
};
