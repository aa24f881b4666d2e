/** Tokens page: create, show once, revoke; by keyboard; closed without permission. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  await cloud.ask('/api/projects', { method: 'POST', body: JSON.stringify({ name: 'Website' }) });
});
afterAll(() => cloud.stop());
/** Each try of a test begins without tokens. */
beforeEach(async () => {
  const { tokens } = await cloud.ask<{ tokens: readonly { id: string }[] }>('/api/tokens');
  for (const { id } of tokens) await cloud.request(`/api/tokens/${id}`, { method: 'DELETE' });
});

const makeReader = (): Promise<{ readonly token: string }> =>
  cloud.ask('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'reader', scope: 'admin:ro', expiresInSeconds: 86_400 }),
  });

const statusWith = async (token: string, path: string): Promise<number> =>
  (await fetch(`${cloud.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;

test('a token is created, shown once, works within its scope, and fails once revoked', async () => {
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/tokens`);
  await page.getByRole('heading', { name: 'No tokens yet' }).waitFor();
  await screenshot(page, 'tokens-empty');
  await page.getByRole('button', { name: 'New token' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await dialog.getByText('Enter a name.').waitFor();
  await dialog.getByLabel('Name').fill('ci');
  const project = dialog.getByLabel('Project', { exact: true });
  expect(await project.locator('option:checked').textContent()).toMatch(/^\s*default\s*$/);
  await project.selectOption({ label: 'Website' });
  await dialog.getByText('Full access to this project').waitFor();
  await screenshot(page, 'tokens-new');
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await dialog.getByText('This is the only time it is shown').waitFor();
  const token = await dialog.getByRole('textbox', { name: 'Token' }).inputValue();
  expect(token).toMatch(/^sp_[0-9a-f]{64}$/);
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'tokens-made');
  await page.mouse.click(5, 5);
  expect(await dialog.getByRole('textbox', { name: 'Token' }).inputValue()).toBe(token);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await page.content()).not.toContain(token);
  expect([await statusWith(token, '/api/projects'), await statusWith(token, '/api/tokens')]).toEqual([
    200, 403,
  ]);

  const row = page.getByRole('row', { name: /ci/ });
  await row.getByText(`${token.slice(0, 8)}...${token.slice(-4)}`).waitFor();
  await row.getByText('Website').waitFor();
  await row.getByText(/^\d{4}-\d\d-\d\d$/).waitFor();
  await row.getByRole('button', { name: 'Revoke ci' }).click();
  await page.getByRole('alertdialog', { name: 'Revoke ci?' }).getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('Token ci revoked').first().waitFor();
  expect(await statusWith(token, '/api/projects')).toBe(401);
  await page.getByRole('heading', { name: 'No tokens yet' }).waitFor();
});

test('a token is created by keyboard alone', async () => {
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/tokens`);
  await page.getByRole('button', { name: 'New token' }).first().focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').waitFor();
  while (!(await dialog.getByLabel('Name').evaluate((field) => field.matches(':focus'))))
    await page.keyboard.press('Tab');
  await page.keyboard.type('operations');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await dialog.getByText('admin:ro').waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByText('This is the only time it is shown').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Read-only admin').waitFor();
  expect(
    await page.getByRole('button', { name: 'New token' }).evaluate((button) => button.matches(':focus')),
  ).toBe(true);
});

test('the focus stays in the list when a row leaves, and on the page when none is left', async () => {
  for (const name of ['left', 'right'])
    await cloud.ask('/api/tokens', { method: 'POST', body: JSON.stringify({ name, scope: 'admin:ro' }) });
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/tokens`);
  const revoke = async (): Promise<string> => {
    const button = page.getByRole('button', { name: /^Revoke / }).first();
    const name = (await button.getAttribute('aria-label')) ?? (await button.innerText());
    await button.press('Enter');
    const answer = page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' });
    await answer.press('Enter');
    await page.getByRole('button', { name }).waitFor({ state: 'detached' });
    return name;
  };
  const focused = () =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id);
  const first = await revoke();
  const other = ['Revoke left', 'Revoke right'].find((name) => name !== first);
  await expect.poll(focused).toBe(other);
  await revoke();
  await expect.poll(focused).toBe('main');
});

test('the page is closed without permission', async () => {
  const { token } = await makeReader();
  const page = await openApp({ url: cloud.url, token });
  await page.goto(`${cloud.url}/#/tokens`);
  await page.getByText("Your token's scope (admin:ro) does not allow this").last().waitFor();
});

test.each([
  ['light', undefined],
  ['dark', undefined],
  ['light', phone],
  ['dark', phone],
] as const)('axe finds no violation (%s, %j)', async (colorScheme, viewport) => {
  await makeReader();
  const page = await openApp(cloud, { colorScheme, ...(viewport && { viewport }) });
  await page.goto(`${cloud.url}/#/tokens`);
  await page.getByText('reader').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, `tokens-${colorScheme}${viewport ? '-phone' : ''}`);
});
