/** Edit and run again, branches, export and rename in the chat. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';
import { ended, say } from './chat.ts';
import { goTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

/** Two turns, whose calls need no approval. */
const conversation = async (page: Page): Promise<string> => {
  const { id } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  await goTo(page, cloud, `/chat/${id}`);
  await say(page, '$ echo one > a.txt');
  await ended(page);
  await say(page, '$ cat a.txt; echo two > a.txt');
  await ended(page, 2);
  return id;
};
const question = (page: Page, index: number) => page.locator('[data-kind="question"]').nth(index);
const left = (page: Page, id: string): Promise<void> =>
  page.waitForFunction((before) => !location.hash.includes(before), id).then(() => undefined);

test('a message is edited and run again by keyboard, in a session of its own with the files of that time', async () => {
  const page = await openApp(cloud);
  const id = await conversation(page);
  await question(page, 1).getByRole('button', { name: 'Edit and run again' }).press('Enter');
  const edited = page.getByLabel('Edited text');
  await edited.press('Escape');
  await edited.waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  expect(await edited.inputValue()).toBe('$ cat a.txt; echo two > a.txt');
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'edit-message');
  await edited.fill('$ echo "now $(cat a.txt)"');
  await edited.press('Enter');
  await left(page, id);
  await page.getByText(`Branched from session ${id.slice(0, 8)}`).waitFor();
  await ended(page, 2);
  await page.locator('.terminal').getByText('now one').waitFor();
  expect(await page.locator('[data-kind="question"]').count()).toBe(2);
  await screenshot(page, 'branched');
});

test('a branch from an answer has all of the conversation', async () => {
  const page = await openApp(cloud, { viewport: phone, colorScheme: 'dark' });
  const id = await conversation(page);
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'message-actions-phone');
  await page.locator('[data-kind="end"]').nth(1).getByRole('button', { name: 'Branch from here' }).click();
  await left(page, id);
  await page.getByText('Branched from session').waitFor();
  expect(await page.locator('[data-kind="question"]').count()).toBe(2);
});

test('where the files of a message are not kept, those of now are offered', async () => {
  const page = await openApp(cloud, { expects: /status of 409/ });
  const id = await conversation(page);
  for (let turn = 3; turn < 12; turn += 1) {
    await say(page, `$ echo ${turn} > a.txt`);
    await ended(page, turn);
  }
  await question(page, 0).getByRole('button', { name: 'Branch from before this' }).click();
  await page.getByText('are no longer kept').waitFor();
  await screenshot(page, 'branch-refused');
  await page.getByRole('button', { name: 'Use the current files' }).click();
  await left(page, id);
  await page.getByText('Branched from session').waitFor();
});

test('a file that is not saved keeps the person in the session, and the branch is opened later', async () => {
  const page = await openApp(cloud);
  const id = await conversation(page);
  await goTo(page, cloud, `/chat/${id}?panel=files&file=a.txt`);
  const panel = page.getByRole('complementary', { name: 'Workspace' });
  await panel.getByRole('button', { name: 'Edit' }).click();
  await panel.getByRole('textbox', { name: 'Text of a.txt' }).fill('three');
  const branches: string[] = [];
  page.on('response', (response) => {
    if (response.request().method() === 'POST' && response.url().endsWith('/api/sessions'))
      branches.push(response.url());
  });
  const branch = async (answer: string): Promise<void> => {
    await page.locator('[data-kind="end"]').nth(0).getByRole('button', { name: 'Branch from here' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: answer }).click();
  };
  await branch('Cancel');
  expect(page.url()).toContain(id);
  expect(await page.locator('[data-kind="question"]').count()).toBe(2);
  await say(page, '$ echo still here');
  await ended(page, 3);
  await branch('Discard');
  await left(page, id);
  await page.getByText('Branched from session').waitFor();
  expect(await page.locator('[data-kind="question"]').count()).toBe(1);
  expect(branches).toHaveLength(1);
});

test('a conversation is renamed and exported', async () => {
  const page = await openApp(cloud);
  await conversation(page);
  const menu = page.getByRole('button', { name: 'More actions' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByLabel('Title').fill('Two files');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'Two files' }).waitFor();
  for (const [item, name, text] of [
    ['Export as Markdown', 'Two-files.md', '# Two files'],
    ['Export as JSON', 'Two-files.json', '"title": "Two files"'],
  ] as const) {
    const saved = page.waitForEvent('download');
    await menu.click();
    await page.getByRole('menuitem', { name: item }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe(name);
    expect(await readFile(await download.path(), 'utf8')).toContain(text);
  }
});
