/** Sessions page: several at once, the archive, and a search in messages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';
import { goTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const titled = async (title: string): Promise<string> => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
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

test('a list of a thousand sessions draws those in view, and a search writes its address once', async () => {
  const id = await titled('A model for the others');
  const { sessions } = await cloud.ask<{ sessions: readonly { id: string }[] }>('/api/sessions');
  const model = sessions.find((session) => session.id === id);
  const many = Array.from({ length: 1000 }, (_, number) => ({
    ...model,
    id: `${String(number).padStart(8, '0')}${id.slice(8)}`,
    title: `session-${number}`,
  }));
  const page = await openApp(cloud);
  await page.route(/\/api\/sessions(\?|$)/, (route) => route.fulfill({ json: { sessions: many } }));
  await goTo(page, cloud, '/sessions');
  await page.getByText(/^1000 of 1000 /).waitFor();
  const titles = page.locator('tbody .title');
  const drawnMax = 60;
  expect(await titles.count()).toBeLessThanOrEqual(drawnMax);
  const main = page.getByRole('main');
  const heightPx = () => main.evaluate((scroller) => scroller.scrollHeight);
  const wholePx = await heightPx();
  await main.evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight / 2));
  // Heights that are measured meanwhile move the middle by some rows.
  await page
    .getByRole('link', { name: /^session-(4[5-9]|5[0-4])\d$/ })
    .first()
    .waitFor();
  expect(await titles.count()).toBeLessThanOrEqual(drawnMax);
  await main.evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
  await page.getByRole('link', { name: 'session-999', exact: true }).waitFor();
  expect(Math.abs((await heightPx()) - wholePx)).toBeLessThan(0.05 * wholePx);

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
