/** Sign-in by link and by form, and rejected tokens. */

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, newPage, openApp, phone, screenshot } from './browser.ts';
import { say } from './chat.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

test('the link of npm start signs in at once, and the token leaves the address bar', async () => {
  const page = await openApp(cloud);
  await page.getByRole('link', { name: 'Chat' }).waitFor();
  expect(page.url()).not.toContain('token');
  expect(await page.title()).toBe('Chat · Sallyport');
  await page.reload();
  await page.getByRole('link', { name: 'Chat' }).waitFor();
});

test('a new tab has the token of one that is open, and a sign-out ends both', async () => {
  const page = await openApp(cloud);
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Sessions', exact: true }).click({ modifiers: ['ControlOrMeta'] }),
  ]);
  await tab.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor();
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You signed out in another tab.').waitFor();
  await tab.reload();
  await tab.getByLabel('Access token').waitFor();
  const stranger = await newPage(cloud.url);
  await stranger.goto(`${cloud.url}/#/sessions`);
  await stranger.getByLabel('Access token').waitFor();
});

test('a link that opens while the first page loads is not lost', async () => {
  const page = await newPage(cloud.url);
  // The first page may come before the browser gets to telling of a new address: as if it never did.
  await page.addInitScript(() => addEventListener('hashchange', (event) => event.stopImmediatePropagation()));
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  await page.route(/chat-page/, async (route) => {
    await arrived;
    await route.continue();
  });
  await page.goto(`${cloud.url}/#token=${cloud.token}`, { waitUntil: 'commit' });
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.evaluate(() => {
    location.hash = '/models';
  });
  arrive();
  await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Chat' }).click();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
});

test('a page whose code does not arrive says so, keeps the page before it, and can be loaded again', async () => {
  const page = await openApp(cloud, { expects: /ERR_FAILED|dynamically imported module/ });
  const draft = page.getByRole('textbox', { name: 'Message' });
  await draft.fill('a draft');
  await page.route(/models-page/, (route) => route.abort());
  await page.getByRole('link', { name: 'Models' }).click();
  await page.getByRole('alert').getByText('This page could not be loaded').waitFor();
  expect(await draft.isVisible()).toBe(false);
  await page.getByRole('link', { name: 'Chat' }).click();
  await draft.waitFor();
  expect(await draft.inputValue()).toBe('a draft');
  await page.getByRole('link', { name: 'Models' }).click();
  const reload = page.getByRole('button', { name: 'Reload' });
  await reload.waitFor();
  await page.unroute(/models-page/);
  await reload.click();
  await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
});

test('the form asks for a token, and a wrong one is rejected with the reason', async () => {
  const page = await newPage(cloud.url, { expects: /status of 401/ });
  await page.goto(cloud.url);
  await page.getByLabel('Access token').fill('sp_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('rejected this token').waitFor();
  await page.getByLabel('Access token').fill(cloud.token);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Chat' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Access token').waitFor();
  await page.reload();
  await page.getByLabel('Access token').waitFor();
});

test('a token that ends leaves its text in the tab, which no other one sees', async () => {
  const body = JSON.stringify({ name: 'admin', scope: 'admin' });
  const { id, token } = await cloud.ask<{ id: string; token: string }>('/api/tokens', {
    method: 'POST',
    body,
  });
  const page = await newPage(cloud.url, { expects: /status of 401|WebSocket/ });
  await page.goto(`${cloud.url}/#token=${token}`);
  await page.getByLabel('Message').fill('half a thought');
  await cloud.ask(`/api/tokens/${id}`, { method: 'DELETE' });
  await page.getByText('rejected this token').waitFor({ timeout: 30_000 });
  await page.getByText('Your unsent text is kept in this tab.').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'sign-in-with-kept-text');
  await page.getByLabel('Access token').fill(cloud.token);
  await page.keyboard.press('Enter');
  await page.getByLabel('Message').waitFor();
  expect(await page.getByLabel('Message').inputValue()).toBe('');
});

/** The requests to the API that carried a token, as method and path. */
const sentWith = (page: Page, token: string): readonly string[] => {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.headers()['authorization'] === `Bearer ${token}`)
      sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return sent;
};

const otherToken = async (): Promise<string> => {
  const body = JSON.stringify({ name: "somebody else's", scope: 'admin:ro' });
  return (await cloud.ask<{ token: string }>('/api/tokens', { method: 'POST', body })).token;
};

test.each(['in the page', 'as a new load'])(
  'a link with another token, opened %s where somebody is signed in, asks and changes nothing before',
  async (how) => {
    const given = await otherToken();
    const page = await openApp(cloud);
    await page.getByLabel('Message').fill('half a thought');
    const sent = sentWith(page, given);
    if (how === 'in the page')
      await page.evaluate((token) => {
        location.hash = `token=${token}`;
      }, given);
    else {
      await page.goto('about:blank');
      await page.goto(`${cloud.url}/#token=${given}`);
    }
    const dialog = page.getByRole('alertdialog', { name: 'Switch to another token?' });
    const words = dialog.getByText(`${given.slice(0, 8)}...${given.slice(-4)}`);
    await words.waitFor();
    await dialog.getByText(`${cloud.token.slice(0, 8)}...${cloud.token.slice(-4)}`).waitFor();
    await dialog.getByText('· admin:ro').waitFor();
    await dialog.getByText(/· admin$/).waitFor();
    expect(page.url()).not.toContain('token');
    expect(await page.evaluate(() => sessionStorage.getItem('sallyport.token'))).toBe(cloud.token);
    expect(await axe(page)).toEqual([]);
    await screenshot(page, 'token-offer');
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Keep');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    if (how === 'in the page') expect(await page.getByLabel('Message').inputValue()).toBe('half a thought');
    await say(page, 'hello');
    await page.locator('[data-kind="end"]').waitFor();
    expect(new Set(sent)).toEqual(new Set(['GET /api/access']));
    await page.reload();
    await page.getByText('admin', { exact: true }).waitFor();
  },
);

test('a confirmed switch continues with the other token', async () => {
  const given = await otherToken();
  const page = await openApp(cloud);
  await page.evaluate((token) => {
    location.hash = `token=${token}`;
  }, given);
  const dialog = page.getByRole('alertdialog', { name: 'Switch to another token?' });
  await dialog.getByRole('button', { name: 'Switch' }).click();
  await page.getByText('admin:ro', { exact: true }).waitFor();
  expect(await page.evaluate(() => sessionStorage.getItem('sallyport.token'))).toBe(given);
});

test('a link with the same token needs no confirmation', async () => {
  const page = await openApp(cloud);
  await page.evaluate((token) => {
    location.hash = `token=${token}`;
  }, cloud.token);
  await page.waitForFunction(() => !location.hash.includes('token'));
  expect(await page.getByRole('alertdialog').count()).toBe(0);
});

test.each(['light', 'dark'] as const)('axe finds no violation on the sign-in (%s)', async (colorScheme) => {
  const page = await newPage(cloud.url, { colorScheme, viewport: phone });
  await page.goto(cloud.url);
  await page.getByLabel('Access token').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, `sign-in-${colorScheme}`);
});
