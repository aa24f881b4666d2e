/** The main tasks of a person who has no mouse: each by keyboard alone, from the first message to the last session. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { openApp } from './browser.ts';
import { ended, mayApprove, place } from './chat.ts';
import { tabTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } });
});
afterAll(() => cloud.stop());

const write = async (page: Page, text: string): Promise<void> => {
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
};

/** Tab to it, and Enter. */
const press = async (page: Page, name: string | RegExp): Promise<void> => {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
};

/** By the command palette. */
const goTo = async (page: Page, name: string, path: RegExp): Promise<void> => {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find a command' }).waitFor();
  await page.keyboard.type(name);
  await page.getByRole('option', { name, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(path);
};

test('a chat: written, approved, rejected with a reason, its files and terminal opened, and a new one begun', async () => {
  const page = await openApp(cloud);
  await page.getByLabel('Message').waitFor();
  await page.keyboard.press('/');
  await write(page, '$ echo kept > kept.txt');
  await place(page, '1 of 1');
  await mayApprove(page);
  await page.keyboard.press('Alt+a');
  await ended(page);
  // For a person who does not see it.
  await page.getByRole('status').getByText('Done', { exact: true }).waitFor({ state: 'attached' });

  // The focus has stayed in the message box.
  await write(page, '$ rm kept.txt');
  await place(page, '1 of 1');
  await mayApprove(page);
  await press(page, 'Give a reason');
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('It is needed.');
  await press(page, 'Reject');
  await ended(page, 2);
  await page.getByText('Reason: It is needed.').waitFor();

  await page.keyboard.press('Alt+p');
  await page.locator('[role="tab"]:focus').waitFor();
  const panel = page.getByRole('complementary', { name: 'Workspace' });
  await panel.getByRole('treeitem', { name: /kept\.txt/ }).waitFor();
  await tabTo(page, /^kept\.txt/);
  await page.keyboard.press('Enter');
  await panel.getByText('kept', { exact: true }).first().waitFor();

  await tabTo(page, 'Files');
  for (const name of ['Changes', 'Agents', 'Terminal']) {
    await page.keyboard.press('ArrowRight');
    await page.locator('[role="tab"]:focus', { hasText: name }).waitFor();
  }
  await panel.getByText('No terminal is open').waitFor();
  await press(page, 'New terminal');
  await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' });
  await page.locator('.xterm-rows').getByText('$').first().waitFor();
  await write(page, 'cat kept.txt; echo $((6 * 7))-done');
  await page.locator('.xterm-rows').getByText('42-done').first().waitFor();
  await leaveTerminal(page);

  await page.keyboard.press('Alt+n');
  await page.getByRole('heading', { name: 'What should the agent do?' }).waitFor();
  await page.locator('[aria-label="Message"]:focus').waitFor();
  await write(page, '$ echo begun');
  await place(page, '1 of 1');
});

/** A terminal takes Tab for itself: its help names the way out. */
const leaveTerminal = async (page: Page): Promise<void> => {
  await page.keyboard.press('Control+]');
  await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'detached' });
};

test('sessions: found, renamed, stopped and deleted', async () => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  const tag = id.slice(0, 8);
  const [title, newTitle] = [`Quarterly report ${tag}`, `Quarterly figures ${tag}`];
  await cloud.request(`/api/sessions/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title }),
  });
  const page = await openApp(cloud);
  await goTo(page, 'Sessions', /#\/sessions/);
  await page.getByRole('link', { name: title }).waitFor();
  await tabTo(page, 'Search');
  await page.keyboard.type(`quarterly ${tag}`);
  await page.getByText(/^1 of /).waitFor();

  await act(page, 'Rename');
  await page.getByRole('dialog', { name: 'Rename session' }).locator('input:focus').waitFor();
  await page.keyboard.press('Control+a');
  await write(page, newTitle);
  await page.getByRole('link', { name: newTitle }).waitFor();

  await act(page, 'Stop');
  await page.getByRole('alertdialog').waitFor();
  await press(page, 'Stop session');
  await page.getByRole('row', { name: newTitle }).getByText('completed').waitFor();

  await tabTo(page, `Select ${newTitle}`);
  await page.keyboard.press('Space');
  await press(page, 'Delete ended');
  await page.getByRole('alertdialog').waitFor();
  await press(page, 'Delete');
  await page.getByRole('link', { name: newTitle }).waitFor({ state: 'detached' });
  expect((await cloud.request(`/api/sessions/${id}`)).status).toBe(404);
});

/** An entry of the menu of the one row. */
const act = async (page: Page, name: string): Promise<void> => {
  await press(page, /^(?:More actions|Actions)/);
  await page.getByRole('menu').waitFor();
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
};

test('a project is chosen, and a server, a schedule and a token are added', async () => {
  const { id } = await cloud.ask<{ readonly id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'web shop' }),
  });
  // In another try the same letters would choose it.
  onTestFinished(async () => void (await cloud.request(`/api/projects/${id}`, { method: 'DELETE' })));
  const token = `by keyboard ${id.slice(0, 8)}`;
  const page = await openApp(cloud);
  await goTo(page, 'MCP servers', /#\/servers/);
  await tabTo(page, 'Project');
  await page.keyboard.type('web');
  await page.waitForURL(/project=/);
  await press(page, 'Add server');
  await page.getByRole('dialog').locator('input:focus').waitFor();
  await page.keyboard.type('issues');
  await tabTo(page, 'URL');
  await write(page, 'http://127.0.0.1:9/');
  await page.getByRole('article', { name: 'issues' }).waitFor();

  await goTo(page, 'Schedules', /#\/schedules/);
  await press(page, 'Create schedule');
  await page.getByLabel('Prompt for the agent').waitFor();
  // The button is gone with its page: reading goes on in the new one.
  await page.locator('main:focus').waitFor();
  await tabTo(page, 'Name');
  await page.keyboard.type('nightly');
  await tabTo(page, 'Prompt for the agent');
  await page.keyboard.type('hello');
  await press(page, 'Create schedule');
  await page.getByRole('heading', { level: 1, name: 'nightly' }).waitFor();
  await page.locator('main:focus').waitFor();
  const schedule = page.url().split('/').at(-1);
  onTestFinished(async () => void (await cloud.request(`/api/schedules/${schedule}`, { method: 'DELETE' })));

  await goTo(page, 'Tokens', /#\/tokens/);
  await press(page, 'New token');
  await page.getByRole('dialog').locator('input:focus').waitFor();
  await page.keyboard.type(token);
  await tabTo(page, 'Project');
  await page.keyboard.type('web');
  await press(page, 'Create token');
  await page.getByRole('textbox', { name: 'Token' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('row', { name: token }).waitFor();
});
