/** Projects page: create, edit and delete projects, workspaces and secrets. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { openApp } from './browser.ts';
import { goTo, inEveryLook, tabTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

/** It is gone after its test: another try makes one of the same name. */
const makeProject = async (options: object): Promise<{ readonly id: string }> => {
  const made = await cloud.ask<{ readonly id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify(options),
  });
  onTestFinished(async () => void (await cloud.request(`/api/projects/${made.id}`, { method: 'DELETE' })));
  return made;
};

const visit = (page: Page, path = ''): Promise<void> => goTo(page, cloud, `/projects${path}`);
const idOf = (page: Page): string => page.url().split('/').at(-1) ?? '';

test('a project is created with limits, edited and deleted', async () => {
  const page = await openApp(cloud);
  await visit(page);
  await page.getByText('The default project of new sessions.').waitFor();
  await page.getByRole('button', { name: 'New project' }).click();
  const form = page.getByRole('dialog', { name: 'New project' });
  await form.getByLabel('Secrets added to requests').scrollIntoViewIfNeeded();
  await form.getByRole('button', { name: 'Create project' }).click();
  await form.getByText('Enter a name.').waitFor();
  await form.locator('input:focus[aria-invalid]').waitFor();
  await page.keyboard.type('shop');
  await form.locator('datalist option[value="demo"]').first().waitFor({ state: 'attached' });
  await form.getByLabel('Approvals').selectOption('medium');
  await form.getByLabel('Sandbox size').selectOption('large');
  await form.getByRole('checkbox', { name: 'large' }).uncheck();
  await form.getByText('This size is not allowed below.').waitFor();
  await form.getByLabel('Sandbox size').selectOption('micro');
  await form.getByLabel('Max cost per session tree').fill('2.5');
  await form.getByLabel('Max nesting depth').fill('99');
  await form.getByText('A whole number from 0 to 10.').waitFor();
  await form.getByLabel('Max nesting depth').fill('0');
  await form.getByRole('button', { name: 'Add rule' }).click();
  await form.getByLabel('All changes within').fill('src\n../up');
  await form.getByLabel('Removals').selectOption('No file is removed');
  await form.getByRole('button', { name: 'Add rule' }).click();
  const second = form.getByRole('group', { name: 'Rule 2' });
  await second.getByLabel('Decision').selectOption('Refuse');
  await second.getByLabel('At least one change in').fill('.git');
  await second.getByRole('checkbox', { name: 'write_file' }).check();
  await form.getByRole('button', { name: 'Move rule 2 up' }).click();
  await form.getByRole('button', { name: 'Create project' }).click();
  await form.getByText('Rule 2: ../up is not a path in the workspace').waitFor();
  await form.getByLabel('All changes within').last().fill('src');
  await form.getByLabel('Disabled tools').fill('write_file');
  await form.getByRole('button', { name: 'Create project' }).click();

  await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor();
  await page
    .getByText('medium: all except reading, plain file writes, plain git and ending a process')
    .waitFor();
  const id = idOf(page);
  expect(await cloud.ask(`/api/projects/${id}`)).toMatchObject({
    name: 'shop',
    flavor: 'micro',
    approvals: 'medium',
    flavorsAllowed: ['micro', 'small', 'medium'],
    limits: { maxRecursionDepth: 0, maxCostUsd: 2.5 },
    disabledTools: ['write_file'],
    effects: {
      rules: [
        { verdict: 'refuse', tools: ['write_file'], touches: ['.git'] },
        { verdict: 'ask', within: ['src'], removes: false },
      ],
    },
  });

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Max cost per session tree').fill('');
  await page.getByLabel('Disabled tools').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('tab', { name: 'Defaults and limits' }).waitFor();
  const changed = await cloud.ask<Record<string, unknown>>(`/api/projects/${id}`);
  expect(changed['limits']).toEqual({ maxRecursionDepth: 0 });
  expect(changed).not.toHaveProperty('disabledTools');

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete project' }).click();
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
  expect((await cloud.request(`/api/projects/${id}`)).status).toBe(404);
});

test('deleting a project with an active session fails with the reason', async () => {
  const { id } = await makeProject({ name: 'busy' });
  await cloud.ask('/api/sessions', { method: 'POST', body: JSON.stringify({ project: id }) });
  const page = await openApp(cloud, { expects: /status of 409/ });
  await visit(page, `/${id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete project' }).click();
  await page.getByText('the project has active sessions').waitFor();
  await page.getByText('End its sessions first.').waitFor();
  await page.getByRole('link', { name: 'Sessions of this project' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  expect(new URL(page.url()).hash).toMatch(/^#\/sessions\?project=[0-9a-f-]{36}$/);
  await page.getByText('1 of 1').waitFor();
});

test('a workspace is created and deleted', async () => {
  const { id } = await makeProject({ name: 'places' });
  const page = await openApp(cloud);
  await visit(page, `/${id}`);
  await page.getByRole('tab', { name: 'Workspaces' }).click();
  await page.getByRole('button', { name: 'New workspace' }).click();
  await page.getByLabel('Name').fill('ticket-42');
  await page.getByRole('button', { name: 'Create workspace' }).click();
  await page.getByRole('row', { name: /ticket-42/ }).waitFor();
  await page.getByRole('button', { name: 'Delete ticket-42' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('row', { name: /ticket-42/ }).waitFor({ state: 'detached' });
});

test('a secret is set, replaced and deleted, and its value is never shown', async () => {
  const { id } = await makeProject({ name: 'keeper' });
  const page = await openApp(cloud);
  const bodies: string[] = [];
  page.on('response', async (response) => {
    if (response.url().includes('/secrets')) bodies.push(await response.text().catch(() => ''));
  });
  await visit(page, `/${id}`);
  await page.getByRole('tab', { name: 'Secrets' }).click();
  await page.getByRole('button', { name: 'New secret' }).click();
  await page.getByLabel('Name').fill('GITHUB_TOKEN');
  await page.getByRole('textbox', { name: 'Value' }).fill('ghp_very_secret');
  await page.getByRole('button', { name: 'Save secret' }).click();
  await page.getByText('$' + '{GITHUB_TOKEN}', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Replace the value of GITHUB_TOKEN' }).click();
  expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Delete GITHUB_TOKEN' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No secrets yet.').waitFor();
  expect(bodies.join()).toContain('GITHUB_TOKEN');
  expect(bodies.join()).not.toContain('ghp_very_secret');
});

test('a project is created by keyboard alone', async () => {
  const page = await openApp(cloud);
  await visit(page);
  await page.getByRole('button', { name: 'New project' }).waitFor();
  await tabTo(page, 'New project');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, 'Name');
  await page.keyboard.type('typed');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'typed' }).waitFor();
});

test('axe finds no violation in any look', async () => {
  const limits = { maxRecursionDepth: 2, maxCostUsd: 25 };
  const { id } = await makeProject({
    name: 'payments',
    description: 'Agents that look after the shop’s billing service.',
    approvals: 'low',
    flavorsAllowed: ['micro', 'small'],
    limits,
    disabledTools: ['session'],
  });
  const workspace = { externalId: 'billing-service', source: 'github.com/shop/billing' };
  await cloud.ask(`/api/projects/${id}/workspaces`, { method: 'POST', body: JSON.stringify(workspace) });
  const secret = { method: 'PUT', body: JSON.stringify({ value: 'x' }) };
  await cloud.ask(`/api/projects/${id}/secrets/STRIPE_KEY`, secret);
  await inEveryLook(cloud, 'projects', async (page) => {
    await visit(page);
    await page.getByText('payments').waitFor();
  });
  await inEveryLook(cloud, 'project', async (page) => {
    await visit(page, `/${id}`);
    await page.getByText('low: all except reading').waitFor();
  });
  await inEveryLook(cloud, 'project-workspaces', async (page) => {
    await visit(page, `/${id}`);
    await page.getByRole('tab', { name: 'Workspaces' }).click();
    await page.getByText('billing-service').first().waitFor();
  });
  await inEveryLook(cloud, 'project-secrets', async (page) => {
    await visit(page, `/${id}`);
    await page.getByRole('tab', { name: 'Secrets' }).click();
    await page.getByText('STRIPE_KEY', { exact: true }).waitFor();
  });
  await inEveryLook(cloud, 'project-edit', async (page) => {
    await visit(page, `/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Disabled tools').waitFor();
  });
});
