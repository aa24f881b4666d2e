/** Sessions page: several at once, the archive, and a search in messages. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, desktop, openApp, type PageOptions, phone, screenshot } from './browser.ts';
import { goTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const forget = async (id: string): Promise<void> => {
  await cloud.request(`/api/sessions/${id}`, { method: 'DELETE' });
  const body = JSON.stringify({ sessions: [id] });
  await cloud.request('/api/sessions/cleanup', { method: 'POST', body });
};

/** It is gone after its test: another try makes one of the same title. */
const titled = async (title: string): Promise<string> => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  onTestFinished(() => forget(id));
  const body = JSON.stringify({ title });
  await cloud.request(`/api/sessions/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return id;
};

test('several sessions are archived, listed again, stopped and deleted', async () => {
  const first = await titled('One of two');
  const second = await titled('Two of two');
  const page = await openApp(cloud);
  await goTo(page, cloud, '/sessions');
  const pick = async (): Promise<void> => {
    await page.getByLabel('Select One of two').check();
    await page.getByLabel('Select Two of two').check();
  };
  const chosen = page.getByRole('region', { name: 'Selected sessions' });
  await pick();
  await chosen.getByText('2 sessions selected').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'sessions-selected');
  await chosen.getByRole('button', { name: 'Archive' }).click();
  await page.getByLabel('Select One of two').waitFor({ state: 'detached' });
  await page.getByLabel('State').selectOption('archived');
  await pick();
  await chosen.getByRole('button', { name: 'List again' }).click();
  await page.getByText('No sessions yet').or(page.getByText('No matching sessions')).waitFor();
  await page.getByLabel('State').selectOption('');
  await pick();
  await chosen.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByText('2 sessions stopped').first().waitFor();
  await pick();
  await chosen.getByRole('button', { name: 'Delete ended' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  for (const id of [first, second])
    await eventually(
      () => cloud.request(`/api/sessions/${id}`),
      ({ status }) => status === 404,
      60_000,
    );
});

test('a session is renamed, and found by what was said in it', async () => {
  const id = await titled('Old name');
  const body = JSON.stringify({ text: 'about zebras and their stripes' });
  await cloud.request(`/api/sessions/${id}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const page = await openApp(cloud, { viewport: phone, colorScheme: 'dark' });
  await goTo(page, cloud, '/sessions');
  await page.getByRole('button', { name: `Actions for session ${id.slice(0, 8)}` }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByLabel('Title').fill('New name');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('link', { name: 'New name' }).waitFor();
  await page.getByLabel('Search').fill('ZEBRAS');
  await page.getByRole('button', { name: 'Search in messages' }).click();
  const found = page.getByRole('region', { name: 'Search in messages' });
  await found.locator('mark').getByText('zebras').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'message-search');
  // The address is the place: a reload searches again.
  await page.waitForURL(/search=ZEBRAS&in=messages/);
  await page.reload();
  await found.locator('mark').getByText('zebras').waitFor();
  await found.getByRole('link', { name: 'New name' }).click();
  await page.waitForURL(new RegExp(id));
});

/** A page with a thousand sessions, of which a test says when they come and whether they come again. */
const openThousand = async (
  options: PageOptions = {},
): Promise<{ page: Page; holdRefreshes: () => void }> => {
  const id = await titled('A model for the others');
  const { sessions } = await cloud.ask<{ sessions: readonly { id: string }[] }>('/api/sessions');
  const model = sessions.find((session) => session.id === id);
  const many = Array.from({ length: 1000 }, (_, number) => ({
    ...model,
    id: `${String(number).padStart(8, '0')}${id.slice(8)}`,
    title: `session-${number}`,
  }));
  const page = await openApp(cloud, options);
  let isHeld = false;
  await page.route(/\/api\/sessions(\?|$)/, (route) =>
    isHeld ? undefined : route.fulfill({ json: { sessions: many } }),
  );
  await goTo(page, cloud, '/sessions');
  await page.getByText(/^1000 of 1000 /).waitFor();
  return {
    page,
    holdRefreshes: () => {
      isHeld = true;
    },
  };
};

type Seen = {
  readonly scrollPx: number;
  readonly heightPx: number;
  readonly viewPx: number;
  readonly first: string;
  readonly last: string;
  readonly drawn: number;
  readonly roomsInView: number;
};

/** The table as a person sees it, once it has been the same for some frames, however long these take. */
const seenAtRest = (page: Page): Promise<Seen> =>
  page.getByRole('main').evaluate(async (main) => {
    const isInView = (element: Element): boolean => {
      const { top, bottom } = element.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    };
    const look = () => {
      const rows = [...main.querySelectorAll('tbody:not([aria-hidden]) > tr')];
      const titles = rows.filter(isInView).map((row) => row.querySelector('.title')?.textContent ?? '');
      return {
        scrollPx: main.scrollTop,
        heightPx: main.scrollHeight,
        viewPx: main.clientHeight,
        first: titles[0] ?? '',
        last: titles.at(-1) ?? '',
        drawn: rows.length,
        roomsInView: [...main.querySelectorAll('tbody[aria-hidden] > tr')].filter(isInView).length,
      };
    };
    const framesMin = 6;
    let seen = look();
    for (let same = 0; same < framesMin; ) {
      await new Promise(requestAnimationFrame);
      const now = look();
      same = JSON.stringify(now) === JSON.stringify(seen) ? same + 1 : 0;
      seen = now;
    }
    return seen;
  });

const numberOf = (title: string): number => Number(/^session-(\d+)$/.exec(title)?.[1]);
const drawnMax = 60;

test.each([
  ['a table', desktop],
  ['cards', phone],
])(
  'of a thousand sessions as %s, a person sees those of the place that the bar was drawn to',
  async (_, viewport) => {
    const { page, holdRefreshes } = await openThousand({ viewport });
    holdRefreshes();
    const main = page.getByRole('main');
    const atTop = await seenAtRest(page);
    for (const part of [0.5, 0, 0.5, 0.1, 0.9, 0.3, 1, 0.5]) {
      await main.evaluate((scroller, to) => scroller.scrollTo(0, to * scroller.scrollHeight), part);
      const seen = await seenAtRest(page);
      expect(seen.roomsInView, `at ${part}`).toBe(0);
      expect(seen.drawn).toBeLessThanOrEqual(drawnMax);
      expect(Math.abs(seen.heightPx - atTop.heightPx)).toBeLessThan(0.02 * atTop.heightPx);
      const middle = (numberOf(seen.first) + numberOf(seen.last)) / 2;
      const expected = (1000 * (seen.scrollPx + seen.viewPx / 2)) / seen.heightPx;
      expect(Math.abs(middle - expected), `at ${part}: ${JSON.stringify(seen)}`).toBeLessThan(10);
      expect(Math.abs(seen.scrollPx / (seen.heightPx - seen.viewPx) - part)).toBeLessThan(0.03);
    }
  },
);

test('rows that come into view without a scroll are drawn', async () => {
  const { page, holdRefreshes } = await openThousand();
  holdRefreshes();
  const main = page.getByRole('main');
  await main.evaluate((scroller) => {
    const above = document.createElement('div');
    above.id = 'above';
    above.style.blockSize = '20000px';
    scroller.prepend(above);
    scroller.style.overflowAnchor = 'none';
    scroller.scrollTo(0, 20_000);
  });
  expect(await seenAtRest(page)).toMatchObject({ roomsInView: 0 });
  await page.locator('#above').evaluate((above) => above.remove());
  const seen = await seenAtRest(page);
  expect(seen.roomsInView).toBe(0);
  expect(numberOf(seen.last) - numberOf(seen.first)).toBeGreaterThan(5);
});

test('a search in a thousand sessions writes its address once', async () => {
  const { page } = await openThousand();
  const titles = page.locator('tbody .title');
  const addresses: string[] = [];
  page.on('framenavigated', (frame) => addresses.push(frame.url()));
  await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('session-7', { delay: 20 });
  await page.getByText(/^111 of 1000 /).waitFor();
  await page.getByRole('link', { name: 'session-7', exact: true }).waitFor();
  expect(await titles.count()).toBeLessThanOrEqual(drawnMax);
  await page.waitForURL(/search=session-7$/);
  expect(new Set(addresses).size).toBe(1);
});

test('sessions are filtered by label and state, in the address', async () => {
  const labelled = await titled('Labelled one');
  await titled('Without a label');
  await cloud.request(`/api/sessions/${labelled}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ labels: { team: 'red' } }),
  });
  const page = await openApp(cloud);
  await goTo(page, cloud, '/sessions');
  await page.getByRole('link', { name: 'Without a label' }).waitFor();
  await page.getByRole('link', { name: 'team:red' }).click();
  const other = page.getByRole('link', { name: 'Without a label' });
  await other.waitFor({ state: 'detached' });
  await page.getByLabel('State').selectOption('active');
  await page.waitForURL(/label=team:red&state=active/);
  await page.reload();
  await page.getByRole('link', { name: 'Labelled one' }).waitFor();
  expect(await page.getByLabel('Label', { exact: true }).inputValue()).toBe('team:red');
  expect(await other.count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'sessions-by-label');
  await page.getByLabel('Label', { exact: true }).selectOption('');
  await other.waitFor();
});
