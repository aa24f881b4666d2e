/** MCP servers page: add, edit, test, disable and remove servers; live health. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Loopback, listen, modernServer } from '../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, type PageOptions, phone, screenshot } from './browser.ts';

let cloud: EmbeddedCloud;
let well: Loopback;
let ill: Loopback;
const tools = [
  {
    name: 'search_issues',
    description: 'Finds issues by words, labels and authors.',
    inputSchema: { type: 'object' },
  },
  { name: 'read_issue', inputSchema: { type: 'object' } },
];

beforeAll(async () => {
  well = await modernServer({ list: tools });
  ill = await listen((_, response) => response.writeHead(401).end());
  cloud = await openEmbeddedCloud({
    variables: { MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1', MCP_CHECK_SECONDS: '1' },
  });
});
afterAll(async () => {
  await cloud.stop();
  await well.stop();
  await ill.stop();
});

/** The page of a project that is this test's alone: what a failed try left behind is in another one. */
const openServers = async (options: PageOptions = {}) => {
  const name = `servers-${crypto.randomUUID()}`;
  const { id } = await cloud.ask<{ readonly id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name }),
  });
  const add = (server: string, config: object): Promise<unknown> =>
    cloud.ask(`/api/mcp/add?project=${id}`, {
      method: 'POST',
      body: JSON.stringify({ name: server, config }),
    });
  const remove = (server: string): Promise<unknown> =>
    cloud.ask(`/api/mcp/${server}?project=${id}`, { method: 'DELETE' });
  const open = async (): Promise<Page> => {
    const page = await openApp(cloud, options);
    await page.goto(`${cloud.url}/#/servers?project=${id}`);
    return page;
  };
  return { add, remove, open };
};

/** Has the servers checked until the page says so. */
const shows = (words: Locator): Promise<boolean> =>
  eventually(
    async () => {
      await cloud.janitor({ sweep: 'mcp' });
      return words.isVisible();
    },
    (isVisible) => isVisible,
  );

test('an API error appears at its field', async () => {
  const { open } = await openServers({ expects: /status of 4/ });
  const page = await open();
  await page.getByRole('heading', { name: 'No MCP servers in this project' }).waitFor();
  await page.getByRole('button', { name: 'Add server' }).first().click();
  const dialog = page.getByRole('dialog');
  const problem = async (label: string): Promise<string> => {
    const field = dialog.getByLabel(label, { exact: false }).first();
    await dialog.locator('[aria-invalid=true]').first().waitFor();
    return dialog.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).innerText();
  };
  const save = () => dialog.getByRole('button', { name: 'Add server' }).click();
  await save();
  expect(await problem('Name')).toBe('Name is required and must be a string');
  await dialog.getByLabel('Name').fill('issues');
  await dialog.getByLabel('URL').fill('ws://x');
  await save();
  await dialog.getByText('URL must start with http:// or https://').waitFor();
  expect(await problem('URL')).toBe('URL must start with http:// or https://');
  await dialog.getByLabel('URL').fill('http://10.0.0.1/');
  await save();
  await dialog.getByText('private, loopback or link-local').waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole('radio', { name: /stdio/ }).check();
  await save();
  await dialog.getByText('Command is required for stdio transport').waitFor();
  await screenshot(page, 'servers-refused');
});

test('a server is added by keyboard alone, and its tools are listed', async () => {
  const { open } = await openServers();
  const page = await open();
  await page.getByRole('button', { name: 'Add server' }).first().focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.locator('input:focus').waitFor();
  await page.keyboard.type('issues');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.type(well.url);
  expect(await dialog.getByLabel('Name').inputValue()).toBe('issues');
  expect(await dialog.getByLabel('URL').inputValue()).toBe(well.url);
  await page.keyboard.press('Enter');
  const card = page.getByRole('article', { name: 'issues' });
  await card.waitFor();
  await shows(card.getByText('healthy', { exact: true }));
  await card.getByText('2 tools').focus();
  await page.keyboard.press('Enter');
  await card.getByText('Finds issues by words').waitFor();
  await card.getByText('No description').waitFor();
  await screenshot(page, 'servers-one');
});

test('a failing server has its error and advice; it is edited, tested, disabled and removed', async () => {
  const { add, open } = await openServers({ expects: /status of 4/ });
  await add('tickets', { transport: 'http', url: ill.url, headers: { Authorization: 'Bearer of-old' } });
  const page = await open();
  const card = page.getByRole('article', { name: 'tickets' });
  await card.waitFor();
  await shows(card.locator('.ill').getByText('The server rejected the credentials'));
  const summary = page.locator('dl').first();
  expect((await summary.innerText()).replaceAll(/\s+/g, ' ')).toContain('With issues 1');
  await screenshot(page, 'servers-ill');
  await card.getByRole('button', { name: 'Test tickets' }).click();
  await card.locator('.tested').getByText('The server rejected the credentials').waitFor();

  await card.getByRole('button', { name: 'More actions for tickets' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('Header 1, value').inputValue()).toBe('***');
  await dialog.getByRole('button', { name: 'Add header' }).click();
  await dialog.getByLabel('Header 2, name').fill('X-Team');
  await dialog.getByLabel('Header 2, value').fill('a');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Values shown as *** are hidden').waitFor();
  await dialog.getByRole('button', { name: 'Remove header 1' }).click();
  await dialog.getByLabel('URL').fill(well.url);
  await screenshot(page, 'servers-edit');
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await shows(card.getByText('healthy', { exact: true }));
  await card.getByRole('button', { name: 'Test tickets' }).click();
  await card.getByText('Connected: 2 tools.').waitFor();

  await card.getByRole('switch', { name: 'Enable tickets' }).click();
  await card.getByText('Disabled: agents do not get its tools.').waitFor();
  await card.getByRole('button', { name: 'More actions for tickets' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page
    .getByRole('alertdialog', { name: 'Remove tickets?' })
    .getByRole('button', { name: 'Remove' })
    .click();
  await card.waitFor({ state: 'detached' });
});

test('a secret that a server takes into sandboxes is warned of while it is written, and on its card', async () => {
  const { open, remove } = await openServers();
  const page = await open();
  await page.getByRole('button', { name: 'Add server' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').first().fill('inside');
  await dialog.getByRole('radio', { name: /stdio/ }).check();
  await dialog.getByLabel('Command').fill('true');
  await dialog.getByRole('button', { name: 'Add variable' }).click();
  await dialog.getByLabel('Variable 1, name').fill('TOKEN');
  await dialog.getByLabel('Variable 1, value').fill(`\${TAKEN}`);
  await dialog.getByText('can read TAKEN').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'servers-secret');
  await dialog.getByRole('button', { name: 'Add server' }).click();
  const card = page.getByRole('article', { name: 'inside' });
  await card.getByText('can read TAKEN').waitFor();
  await remove('inside');
  await card.waitFor({ state: 'detached' });
});

test('a failing server is shown without a reload', async () => {
  const passing = await modernServer({ list: tools });
  const { add, open, remove } = await openServers();
  await add('passing', { transport: 'http', url: passing.url });
  const page = await open();
  const card = page.getByRole('article', { name: 'passing' });
  await card.waitFor();
  await shows(card.getByText('healthy', { exact: true }));
  await passing.stop();
  await shows(card.getByText(/Last response .* failures since/));
  await remove('passing');
  await card.waitFor({ state: 'detached' });
});

test.each([
  ['light', undefined],
  ['dark', undefined],
  ['light', phone],
  ['dark', phone],
] as const)('axe finds no violation (%s, %j)', async (colorScheme, viewport) => {
  const { add, open } = await openServers({ colorScheme, ...(viewport && { viewport }) });
  await add('down', { transport: 'http', url: ill.url, description: 'Tickets of the support desk' });
  await add('program', { transport: 'stdio', command: 'python3', args: ['-m', 'server'], enabled: false });
  const page = await open();
  const card = page.getByRole('article', { name: 'down' });
  await card.waitFor();
  await shows(card.getByText('A sign-in to the server (OAuth) is not supported'));
  expect(await axe(page)).toEqual([]);
  await screenshot(page, `servers-${colorScheme}${viewport ? '-phone' : ''}`);
});
