/** Things that are left behind on the way to another page: drafts, first messages, and open dialogs. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiClient } from '#sdk/api-client.ts';
import { api } from '#sdk/routes.ts';
import { makeSession, showSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { openApp } from './browser.ts';
import { ended, say } from './chat.ts';
import { goTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const titled = async (title: string): Promise<string> => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  await new ApiClient(cloud).request(api.changeSession, { params: { id }, body: { title } });
  return id;
};
const twoSessions = async (): Promise<readonly [string, string]> => [
  await titled('One'),
  await titled('Two'),
];
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
const written = (page: Page) => expect.poll(() => page.getByLabel('Message').inputValue());
const newSession = async (page: Page): Promise<void> => {
  await goTo(page, cloud, '/chat/');
  await heading(page, 'What should the agent do?').waitFor();
};

test('each session keeps its draft over other pages and a reload, until it is sent', async () => {
  const [one, two] = await twoSessions();
  const page = await openApp(cloud);
  await page.getByLabel('Message').fill('for a new one');
  await goTo(page, cloud, `/chat/${one}`);
  await heading(page, 'One').waitFor();
  await written(page).toBe('');
  await page.getByLabel('Message').fill('half a thought');
  await goTo(page, cloud, `/chat/${two}`);
  await heading(page, 'Two').waitFor();
  await written(page).toBe('');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click();
  await heading(page, 'Projects').waitFor();
  await goTo(page, cloud, `/chat/${one}`);
  await written(page).toBe('half a thought');
  await page.reload();
  await written(page).toBe('half a thought');
  await page.getByLabel('Message').press('Enter');
  await ended(page);
  await page.reload();
  await ended(page);
  await written(page).toBe('');
  await newSession(page);
  await written(page).toBe('for a new one');
});

test('a window has the name of its session, and another session on the page is announced', async () => {
  const [one, two] = await twoSessions();
  const page = await openApp(cloud);
  const titleIs = (title: string) => expect.poll(() => page.title()).toBe(title);
  const announced = () =>
    page.evaluate(() => document.querySelector('[role="status"].unseen')?.textContent.trim() ?? '');
  await goTo(page, cloud, `/chat/${one}`);
  await titleIs('One · Sallyport');
  await goTo(page, cloud, `/chat/${two}`);
  await titleIs('Two · Sallyport');
  await expect.poll(announced).toBe('Two');
  await goTo(page, cloud, `/sessions/${two}/sandbox`);
  await titleIs('Sandbox of “Two” · Sallyport');
  await goTo(page, cloud, '/projects');
  await titleIs('Projects · Sallyport');
  await goTo(page, cloud, '/projects/00000000-0000-4000-8000-000000000000');
  await titleIs('default · Projects · Sallyport');
});

/** Requests for a new session that wait, until each is let through or fails. */
const holdSessions = async (page: Page) => {
  const { promise, resolve } = Promise.withResolvers<'continue' | 'abort'>();
  await page.route('**/api/sessions', async (route) => {
    if (route.request().method() === 'POST') await route[await promise]();
    else await route.continue();
  });
  return resolve;
};
const leaveFor = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
  await heading(page, name).waitFor();
};

test('a first message that was on its way is answered, and the person stays where they went', async () => {
  const page = await openApp(cloud);
  const settle = await holdSessions(page);
  const sent = page.waitForResponse(/\/messages$/);
  await say(page, 'hello from afar');
  await leaveFor(page, 'Projects');
  settle('continue');
  await page.getByText('Started a new session').waitFor();
  const [, id] = /sessions\/([^/]+)\/messages/.exec((await sent).url()) ?? [];
  expect(page.url()).toContain('#/projects');
  await goTo(page, cloud, `/chat/${id}`);
  await ended(page);
  expect(await page.locator('[data-kind="question"]').count()).toBe(1);
  await newSession(page);
  await written(page).toBe('');
});

test('a first message that failed after its page was left is said, and is in the box again', async () => {
  const page = await openApp(cloud, { expects: /ERR_FAILED/ });
  const settle = await holdSessions(page);
  await say(page, 'hello from afar');
  await leaveFor(page, 'Projects');
  settle('abort');
  await page.getByText('Your first message was not sent').waitFor();
  expect(page.url()).toContain('#/projects');
  await newSession(page);
  await written(page).toBe('hello from afar');
  await page.getByText('The server does not answer').first().waitFor();
});

test('a reload while a first message is on its way returns it to the box', async () => {
  const page = await openApp(cloud);
  await holdSessions(page);
  await say(page, 'hello from afar');
  await written(page).toBe('');
  await page.reload();
  await written(page).toBe('hello from afar');
});

const openMenuItem = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name }).click();
};

test('a dialog about a session closes when another one is shown, and nothing is done', async () => {
  const [one, two] = await twoSessions();
  const page = await openApp(cloud);
  await goTo(page, cloud, `/chat/${one}`);
  await heading(page, 'One').waitFor();
  for (const [item, role] of [
    ['Stop session', 'alertdialog'],
    ['Clear conversation', 'alertdialog'],
    ['Rename', 'dialog'],
    ['Budget', 'dialog'],
  ] as const) {
    await goTo(page, cloud, `/chat/${two}`);
    await heading(page, 'Two').waitFor();
    await openMenuItem(page, item);
    await page.getByRole(role).waitFor();
    await page.goBack();
    await page.getByRole(role).waitFor({ state: 'detached' });
    await heading(page, 'One').waitFor();
  }
  for (const [path, name] of [
    [`/sessions/${one}/sandbox`, 'One'],
    [`/sessions/${two}/sandbox`, 'Two'],
  ] as const) {
    await goTo(page, cloud, path);
    await page.getByText(`The isolated environment of “${name}”`).waitFor();
  }
  await page.getByRole('button', { name: 'Stop session' }).click();
  await page.getByRole('alertdialog').waitFor();
  await page.goBack();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  for (const id of [one, two]) expect(await showSession(cloud, id)).toMatchObject({ status: 'created' });
});
