/** Schedules page: create, run, edit, disable and delete schedules; run history. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { openApp } from './browser.ts';
import { goTo, inEveryLook, tabTo } from './looks.ts';

let cloud: EmbeddedCloud;
let project: { readonly id: string };
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  const body = JSON.stringify({ name: 'night watch', approvals: 'auto', flavor: 'micro' });
  project = await cloud.ask('/api/projects', { method: 'POST', body });
});
afterAll(() => cloud.stop());

/** Another try begins as the first: with an empty page. */
beforeEach(async () => {
  const { schedules } = await cloud.ask<{ schedules: readonly { id: string }[] }>('/api/schedules');
  for (const { id } of schedules) await cloud.request(`/api/schedules/${id}`, { method: 'DELETE' });
});

const makeSchedule = (options: object): Promise<{ readonly id: string }> =>
  cloud.ask('/api/schedules', {
    method: 'POST',
    body: JSON.stringify({
      name: 'report',
      cronExpr: '30 6 * * 1-5',
      prompt: '$ echo it went well',
      targets: [{ projectId: project.id }],
      ...options,
    }),
  });

const visit = (page: Page, path = ''): Promise<void> => goTo(page, cloud, `/schedules${path}`);

test('a schedule is created, described, run manually, and its history has the output', async () => {
  const page = await openApp(cloud);
  await visit(page);
  await page.getByRole('button', { name: 'Create schedule' }).click();
  await page.getByLabel('Name').fill('nightly');
  const cron = page.getByLabel('Cron (UTC)');
  await cron.fill('15 3 * * 6');
  await page.getByText('At 03:15 UTC, on Saturday.').waitFor();
  expect(await page.getByRole('list', { name: 'Next runs' }).getByRole('listitem').count()).toBe(5);
  await cron.fill('61 3 * * 6');
  await page.getByText('minute: from 0 to 59, not "61"').waitFor();
  await page.getByRole('button', { name: 'Weekdays at 9' }).click();
  await page.getByText('At 09:00 UTC, Monday to Friday.').waitFor();
  await page.getByLabel('Prompt for the agent').fill('$ echo all is quiet');
  await page.getByRole('button', { name: 'Add target' }).click();
  expect(await page.getByLabel('Project').locator('option:checked').allTextContents()).toEqual([
    expect.stringMatching(/^\s*default\s*$/),
    expect.stringMatching(/^\s*default\s*$/),
  ]);
  await page.getByRole('button', { name: 'Remove target 2' }).click();
  await page.getByLabel('Project').selectOption('night watch');
  await page.getByRole('radio', { name: /New session for each run/ }).check();
  await page.getByRole('button', { name: 'Create schedule' }).click();

  await page.getByRole('heading', { level: 1, name: 'nightly' }).waitFor();
  await page.getByText('No runs yet').waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  const history = page.getByRole('region', { name: 'History' });
  await history.getByText('manual').waitFor();
  await history.getByText('success').waitFor({ timeout: 60_000 });
  await history.getByText('Output', { exact: true }).click();
  await history.getByText('all is quiet').waitFor();
  await history.getByRole('link', { name: 'Open session' }).waitFor();
});

test('a schedule is disabled in the list, edited and deleted', async () => {
  const { id } = await makeSchedule({ name: 'weekly' });
  const page = await openApp(cloud);
  await visit(page);
  const row = page.getByRole('row', { name: /weekly/ });
  await row.getByText('At 06:30 UTC, Monday to Friday.').waitFor();
  await row.getByRole('switch', { name: 'weekly is enabled' }).click();
  await row.getByText('disabled', { exact: true }).waitFor();
  expect(await cloud.ask(`/api/schedules/${id}`)).toMatchObject({ enabled: false, nextRunAt: null });

  await row.getByRole('link', { name: 'weekly' }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Name').fill('fortnightly');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'fortnightly' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete schedule' }).click();
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  expect((await cloud.request(`/api/schedules/${id}`)).status).toBe(404);
});

test('a project token is asked before it takes over the schedule of another caller by its switch', async () => {
  const { id } = await makeSchedule({ name: 'weekly', enabled: false });
  const body = JSON.stringify({ name: 'p', scope: `project:${project.id}` });
  const made = await cloud.ask<{ id: string; token: string }>('/api/tokens', { method: 'POST', body });
  const page = await openApp({ url: cloud.url, token: made.token });
  await visit(page);
  const flip = () => page.getByRole('switch', { name: 'weekly is enabled' }).click();
  await flip();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('From now on it runs with your permissions.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await cloud.ask(`/api/schedules/${id}`)).toMatchObject({ enabled: false });
  await flip();
  await dialog.getByRole('button', { name: 'Enable' }).click();
  const shown = () => cloud.ask<{ enabled: boolean; creator: object }>(`/api/schedules/${id}`);
  await expect.poll(shown).toMatchObject({ enabled: true, creator: { id: made.id, name: 'p' } });
  // It is its own by now.
  await flip();
  await expect.poll(shown).toMatchObject({ enabled: false });
  await flip();
  await expect.poll(shown).toMatchObject({ enabled: true });
});

test('switches of two rows act side by side, and one that is refused goes back', async () => {
  const names = ['left', 'right'];
  for (const name of names) await makeSchedule({ name });
  const page = await openApp(cloud, { expects: /status of 429/ });
  await visit(page);
  const answers = Promise.withResolvers<void>();
  const path = /\/api\/schedules\/[^/]+$/;
  await page.route(path, async (route) => {
    await answers.promise;
    await route.continue();
  });
  const rows = names.map((name) => page.getByRole('row', { name }));
  for (const row of rows) await row.getByRole('switch').click();
  expect(await page.locator('[role="switch"][aria-busy]').count()).toBe(2);
  expect(await rows[1]?.getByRole('switch').evaluate((one) => one === document.activeElement)).toBe(true);
  answers.resolve();
  for (const row of rows) await row.getByText('disabled', { exact: true }).waitFor();
  const { schedules } = await cloud.ask<{ schedules: { name: string; enabled: boolean }[] }>(
    '/api/schedules',
  );
  expect(schedules.filter(({ name, enabled }) => names.includes(name) && enabled)).toEqual([]);

  await page.route(path, (route) => {
    const error = { code: 'rate_limited', message: 'too many requests at once', suggestions: [] };
    return route.fulfill({ status: 429, json: { error } });
  });
  await expect.poll(() => page.locator('[role="switch"][aria-busy]').count()).toBe(0);
  await rows[0]?.getByRole('switch').click();
  await page.getByText('too many requests at once').waitFor();
  await expect.poll(() => page.locator('[role="switch"][aria-busy]').count()).toBe(0);
  expect(await rows[0]?.getByRole('switch').isChecked()).toBe(false);
});

test('a run that waits for a person says so', async () => {
  const asking = { name: 'asks', approvals: 'ask', flavor: 'micro' };
  const { id: projectId } = await cloud.ask<{ id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify(asking),
  });
  const { id } = await makeSchedule({ prompt: '$ true', targets: [{ projectId }] });
  await cloud.request(`/api/schedules/${id}/trigger`, { method: 'POST' });
  const page = await openApp(cloud);
  await visit(page, `/${id}`);
  await page
    .getByRole('region', { name: 'History' })
    .getByText('needs approval')
    .waitFor({ timeout: 60_000 });
  const { history } = await cloud.ask<{ history: readonly object[] }>(`/api/schedules/${id}/history`);
  expect(history).toMatchObject([{ status: 'running', needsApproval: true }]);
});

test('a schedule is created by keyboard alone', async () => {
  const page = await openApp(cloud);
  await visit(page, '/new');
  await page.getByLabel('Name').waitFor();
  await tabTo(page, 'Name');
  await page.keyboard.type('by keyboard');
  await tabTo(page, 'Hourly');
  await page.keyboard.press('Enter');
  await page.getByText('Every hour, on the hour.').waitFor();
  await tabTo(page, 'Prompt for the agent');
  await page.keyboard.type('hello');
  await tabTo(page, 'Create schedule');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'by keyboard' }).waitFor();
});

test('axe finds no violation in any look', async () => {
  const { id } = await makeSchedule({});
  await makeSchedule({ name: 'look at the logs', cronExpr: '*/20 8-18 * * *', enabled: false });
  const { runs } = await cloud.ask<{ runs: readonly object[] }>(`/api/schedules/${id}/trigger`, {
    method: 'POST',
  });
  expect(runs).toHaveLength(1);
  await inEveryLook(cloud, 'schedules', async (page) => {
    await visit(page);
    await page.getByRole('link', { name: 'look at the logs' }).waitFor();
  });
  await inEveryLook(cloud, 'schedule', async (page) => {
    await visit(page, `/${id}`);
    await page.getByText('success').waitFor({ timeout: 60_000 });
  });
  await inEveryLook(cloud, 'schedule-new', async (page) => {
    await visit(page, '/new');
    await page.getByText('At 09:00 UTC').waitFor();
    await page.getByRole('combobox', { name: 'Workspace' }).waitFor();
  });
});
