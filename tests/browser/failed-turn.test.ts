/** A failed turn: who failed, why, when it can be tried again, and the one next step. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AnthropicServer, openAnthropicServer } from '../e2e/anthropic-server.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, screenshot } from './browser.ts';
import { say } from './chat.ts';

let model: AnthropicServer;
let cloud: EmbeddedCloud;
beforeAll(async () => {
  model = await openAnthropicServer();
  const variables = { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: model.url, LLM_PROVIDER: 'anthropic' };
  cloud = await openEmbeddedCloud({ variables });
});
afterAll(async () => {
  await cloud.stop();
  model.close();
});

test('a provider that asks for a pause is named, counted down to, and asked again without retyping', async () => {
  model.script.push({ status: 429, retryAfter: '90' });
  const page = await openApp(cloud);
  await say(page, 'hello there');
  const again = page.getByRole('button', { name: /^Try again/ });
  await again.waitFor();
  await page.getByText(/^Tried once/).waitFor();
  await page.locator('header').getByText('last turn failed').waitFor();
  await page.getByRole('button', { name: /^Try again in \d+ s$/ }).waitFor();
  expect(await again.isDisabled()).toBe(true);
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'failed-turn');
  await page.clock.setSystemTime(Date.now() + 100_000);
  await page.locator('button:enabled', { hasText: /^\s*Try again\s*$/ }).click();
  await page.locator('[data-kind="end"]', { hasText: 'Done' }).waitFor();
  expect(await page.locator('[data-kind="question"]').count()).toBe(1);
});

test('a refused key leads to the page of the providers first', async () => {
  model.script.push({ status: 401 });
  const page = await openApp(cloud);
  await say(page, 'hello there');
  await page.getByRole('link', { name: 'Check the provider' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await screenshot(page, 'failed-key');
  await page.getByRole('link', { name: 'Check the provider' }).click();
  await page.waitForURL(/#\/models/);
});
