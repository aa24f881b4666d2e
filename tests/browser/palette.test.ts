/** The command palette: pages, sessions and actions by keyboard. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

test('a page and a session are found and opened by keyboard, also from the message box', async () => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  const tag = id.slice(0, 8);
  await cloud.request(`/api/sessions/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: `Quarterly report ${tag}` }),
  });
  const page = await openApp(cloud);
  await page.getByLabel('Message').focus();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Find a command' });
  await field.waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'palette');
  await page.keyboard.type('projec');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/projects/);
  await page.keyboard.press('Control+k');
  await page.keyboard.type(`report quart ${tag}`);
  await page.getByRole('option', { name: `Quarterly report ${tag}` }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(id));
  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.press('ArrowDown');
  expect(await page.getByRole('option', { selected: true }).count()).toBe(1);
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
});

test('what is typed while its code is still loading is in its field, not in the message box', async () => {
  const page = await openApp(cloud);
  const loading = Promise.withResolvers<void>();
  await page.route(/command-palette/, async (route) => {
    await loading.promise;
    await route.continue();
  });
  await page.getByLabel('Message').focus();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('projec');
  loading.resolve();
  await page.getByRole('option', { name: /Projects/ }).waitFor();
  expect(await page.getByRole('combobox', { name: 'Find a command' }).inputValue()).toBe('projec');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/projects/);
  await page.goBack();
  expect(await page.getByLabel('Message').inputValue()).toBe('');
});

test('it opens from the menu of a phone, and searches messages', async () => {
  const page = await openApp(cloud, { viewport: phone, colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Menu' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Commands/ })
    .click();
  const field = page.getByRole('combobox', { name: 'Find a command' });
  await field.fill('no such thing');
  await page.getByRole('option', { name: 'Search messages for “no such thing”' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'palette-phone');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/sessions\?search=/);
});
