/** Sessions page: session trees, stop, search, filters and clean-up. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession, type Shown, showSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { openApp } from './browser.ts';
import { goTo, inEveryLook, tabTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

type Listed = Shown & { readonly parent?: string; readonly root?: string };

const say = (id: string, text: string): Promise<unknown> =>
  cloud.ask(`/api/sessions/${id}/messages`, { method: 'POST', body: JSON.stringify({ text }) });
const end = (id: string): Promise<unknown> => cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });
const list = async (): Promise<readonly Listed[]> =>
  (await cloud.ask<{ sessions: readonly Listed[] }>('/api/sessions')).sessions;

const spawn = (prompt: string): string => `call session ${JSON.stringify({ action: 'spawn', prompt })}`;

/** A parent session with a child. */
const makeSessionTree = async (
  prompt: string,
  options: object = {},
): Promise<{ parent: string; child: string }> => {
  const { id: parent } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro', ...options });
  await say(parent, spawn(prompt));
  const found = await eventually(
    async () => (await list()).find((session) => session.parent === parent),
    (child) => child !== undefined,
    60_000,
  );
  return { parent, child: found?.id ?? '' };
};

/** A session with a pending approval, which is ended with its test. */
const makeWaiting = async (): Promise<string> => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  onTestFinished(async () => void (await end(id)));
  await say(id, '$ rm -rf build');
  await eventually(
    () => cloud.ask<{ pendingApprovals: readonly unknown[] }>(`/api/sessions/${id}`),
    ({ pendingApprovals }) => pendingApprovals.length === 1,
    60_000,
  );
  return id;
};

const visit = (page: Page): Promise<void> => goTo(page, cloud, '/sessions');
const rowOf = (page: Page, id: string) =>
  page.getByRole('row').filter({ has: page.locator(`a[href*="${id}"]`) });

test('children are under their parent, and stopping the parent stops them', async () => {
  const { parent, child } = await makeSessionTree('$ sleep 60');
  const page = await openApp(cloud);
  await visit(page);
  await rowOf(page, child)
    .getByText(`child of ${parent.slice(0, 8)}`)
    .waitFor();
  const ids = await page
    .locator('tbody tr a.title')
    .evaluateAll((links) => links.map((a) => a.getAttribute('href')));
  expect(ids.indexOf(`#/chat/${child}`)).toBe(ids.indexOf(`#/chat/${parent}`) + 1);

  await page.getByRole('button', { name: `1 child session of ${parent.slice(0, 8)}` }).click();
  await rowOf(page, child).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: `Actions for session ${parent.slice(0, 8)}` }).click();
  await page.getByRole('menuitem', { name: 'Stop' }).click();
  await page.getByText('This also stops 1 active child session.').waitFor();
  await page.getByRole('button', { name: 'Stop all 2' }).click();
  await rowOf(page, parent).getByText('completed').waitFor();
  await eventually(
    () => showSession(cloud, child),
    ({ status }) => status === 'completed',
    20_000,
  );
});

test('sessions with pending approvals come first and link to the chat', async () => {
  const waiting = await makeWaiting();
  const { id: newer } = await makeSession(cloud, {});
  onTestFinished(async () => void (await end(newer)));
  const page = await openApp(cloud);
  await visit(page);
  await page.getByText('1 pending approval ·').waitFor();
  await page.locator('tbody tr').first().getByRole('link', { name: 'needs approval' }).click();
  await page.waitForURL(new RegExp(`/chat/${waiting}`));
});

test('a session is found by its first message', async () => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  onTestFinished(async () => void (await end(id)));
  const question = `What is in the attic ${id.slice(0, 8)}?`;
  await say(id, question);
  const page = await openApp(cloud);
  await visit(page);
  await page.getByRole('searchbox', { name: 'Search' }).fill('attic');
  await rowOf(page, id).getByRole('link', { name: question }).click();
  await page.getByRole('navigation', { name: 'Recent sessions' }).getByText(question).waitFor();
});

test('sessions are searched and filtered', async () => {
  const { id: agent } = await makeSession(cloud, {});
  const { id: execution } = await makeSession(cloud, { kind: 'execution', template: 'node' });
  onTestFinished(async () => {
    await end(agent);
    await end(execution);
  });
  const page = await openApp(cloud);
  await visit(page);
  await rowOf(page, agent).waitFor();
  await page.getByRole('searchbox', { name: 'Search' }).fill(execution.slice(0, 13));
  await rowOf(page, agent).waitFor({ state: 'detached' });
  await rowOf(page, execution).waitFor();
  await page.getByLabel('Kind').selectOption('Agents');
  await page.getByText('No matching sessions').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await rowOf(page, agent).waitFor();
});

test('ended sessions are cleaned up, and active ones stay', async () => {
  const { id: old } = await makeSession(cloud, {});
  const { id: active } = await makeSession(cloud, {});
  onTestFinished(async () => void (await end(active)));
  await end(old);
  const page = await openApp(cloud);
  await visit(page);
  await page.getByRole('button', { name: 'Clean up' }).click();
  await page.getByLabel('Age', { exact: true }).selectOption('All ended sessions');
  await page.getByRole('button', { name: 'Delete' }).click();
  await rowOf(page, old).waitFor({ state: 'detached' });
  await rowOf(page, active).waitFor();
  expect((await cloud.request(`/api/sessions/${old}`)).status).toBe(404);
});

test('a session is stopped by keyboard alone', async () => {
  const { id } = await makeSession(cloud, {});
  const page = await openApp(cloud);
  await visit(page);
  await rowOf(page, id).waitFor();
  await tabTo(page, `Actions for session ${id.slice(0, 8)}`);
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Stop' }).waitFor();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('alertdialog').waitFor();
  await tabTo(page, 'Stop session');
  await page.keyboard.press('Enter');
  await rowOf(page, id).getByText('completed').waitFor();
});

test('axe finds no violation in any look', async () => {
  const project = await cloud.ask<{ id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'payments' }),
  });
  const { parent } = await makeSessionTree('$ echo hi', { project: project.id });
  const waiting = await makeWaiting();
  const { id: execution } = await makeSession(cloud, { kind: 'execution' });
  onTestFinished(async () => {
    for (const id of [parent, execution]) await end(id);
  });
  await eventually(
    () => showSession(cloud, parent),
    ({ status }) => status === 'idle',
    60_000,
  );
  await inEveryLook(cloud, 'sessions', async (page) => {
    await visit(page);
    await rowOf(page, waiting).first().waitFor();
    await page.getByRole('cell', { name: 'payments' }).first().waitFor();
  });
});
