/** Signing in: by the link of `npm start`, by hand, and being sent back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, newPage, openApp, phone, screenshot } from './browser.ts';

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

test('an address that is opened while the first page is on its way is not lost', async () => {
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

test('a token is asked for, and a wrong one is refused with the reason', async () => {
  const page = await newPage(cloud.url, { expects: /status of 401/ });
  await page.goto(cloud.url);
  await page.getByLabel('Access token').fill('sp_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('does not accept this token').waitFor();
  await page.getByLabel('Access token').fill(cloud.token);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Chat' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Access token').waitFor();
  await page.reload();
  await page.getByLabel('Access token').waitFor();
});

test.each(['light', 'dark'] as const)(
  'the sign-in has no barrier that axe finds (%s)',
  async (colorScheme) => {
    const page = await newPage(cloud.url, { colorScheme, viewport: phone });
    await page.goto(cloud.url);
    await page.getByLabel('Access token').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshot(page, `sign-in-${colorScheme}`);
  },
);
