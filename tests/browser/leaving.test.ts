/** Things that are left behind on the way to another page: drafts, first messages, and open dialogs. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiClient } from '#sdk/api-client.ts';
import { api } from '#sdk/routes.ts';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { openApp } from './browser.ts';
import { ended } from './chat.ts';
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
