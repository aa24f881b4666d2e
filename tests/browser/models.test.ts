/** Models page: providers with and without a key, models and prices. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen } from '../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';

const models = ['gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6-nano', 'a', 'b', 'c', 'd'];
/** A provider with a list of models. */
const answer = (path: string): object => {
  const data = models.map((id) => ({ id, object: 'model', created: 1, owned_by: 'x' }));
  return path.endsWith('/models')
    ? { object: 'list', data }
    : { ...data.find(({ id }) => path.endsWith(id)) };
};

let cloud: EmbeddedCloud;
let provider: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  provider = await listen((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer(request.url ?? '')));
  });
  cloud = await openEmbeddedCloud({
    variables: {
      LLM_PROVIDER: 'demo',
      OPENAI_API_KEY: 'sk-of-a-test',
      OPENAI_BASE_URL: new URL('/v1', provider.url).href,
      MODEL_PRICES: '{"openai/gpt-6-nano": {"input": 0.25, "output": 1.5}}',
    },
  });
});
afterAll(async () => {
  await cloud.stop();
  await provider.stop();
});

test('each provider has its state, models and prices', async () => {
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/models`);
  const demo = page.getByRole('region', { name: 'Demo' });
  await demo.getByText('Default', { exact: true }).waitFor();
  await demo.getByText('Not a language model').waitFor();
  const openai = page.getByRole('region', { name: 'OpenAI' });
  await openai.getByText('available', { exact: true }).waitFor();
  expect(await openai.getByRole('row', { name: /gpt-6-nano/ }).innerText()).toMatch(/\$0\.25\s+\$1\.5/);
  await openai
    .getByRole('row', { name: /gpt-6\.1-sol/ })
    .getByText('default')
    .waitFor();
  await openai.getByText('No price').first().waitFor();
  await openai.getByText('A model without a price counts as $0').waitFor();
  await openai.getByRole('button', { name: 'Show all 7' }).press('Enter');
  await openai.getByRole('row', { name: /^d/ }).waitFor();
  const anthropic = page.getByRole('region', { name: 'Anthropic' });
  await anthropic.getByText('no key').waitFor();
  await anthropic.getByText('ANTHROPIC_API_KEY').waitFor();
});

test.each([
  ['light', undefined],
  ['dark', undefined],
  ['light', phone],
] as const)('axe finds no violation (%s, %j)', async (colorScheme, viewport) => {
  const page = await openApp(cloud, { colorScheme, ...(viewport && { viewport }) });
  await page.goto(`${cloud.url}/#/models`);
  await page.getByRole('region', { name: 'Demo' }).getByText('Default', { exact: true }).waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, `models-${colorScheme}${viewport ? '-phone' : ''}`);
});

test('a button at work says so, keeps its focus, and asks once', async () => {
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/models`);
  await page.getByRole('region', { name: 'Demo' }).getByText('Default', { exact: true }).waitFor();
  const gate = Promise.withResolvers<void>();
  const asked: string[] = [];
  await page.route(/models\/available/, async (route) => {
    asked.push(route.request().url());
    await gate.promise;
    await route.continue();
  });
  const refresh = page.getByRole('button', { name: 'Refresh' });
  await refresh.press('Enter');
  await page.locator('button[aria-busy="true"]').waitFor();
  await expect.poll(() => asked).toHaveLength(2);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Enter');
  expect(await refresh.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
  expect(asked).toHaveLength(2);
  gate.resolve();
  await page.locator('button[aria-busy="true"]').waitFor({ state: 'detached' });
});
