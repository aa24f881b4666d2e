/**
 * Agents of a project in its form and in a new session, and a provider that fails: who failed, why, when it can be tried again,
 * and the one next step.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Sallyport } from '#sdk/sallyport.ts';
import { makeSession } from '../e2e/agent.ts';
import { type AnthropicServer, openAnthropicServer } from '../e2e/anthropic-server.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, screenshot } from './browser.ts';
import { approve, ended, say } from './chat.ts';
import { goTo, inEveryLook } from './looks.ts';
import { decidedEvents, openSession, promptOf } from './waiting.ts';

let cloud: EmbeddedCloud;
let model: AnthropicServer;
beforeAll(async () => {
  model = await openAnthropicServer();
  const variables = { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: model.url, LLM_PROVIDER: 'anthropic' };
  cloud = await openEmbeddedCloud({ variables });
});
// A try that failed leaves answers, which the next one would get.
beforeEach(() => void model.script.splice(0));
afterAll(async () => {
  await cloud.stop();
  model.close();
});

const makeProject = () =>
  cloud.ask<{ readonly id: string; readonly name: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({
      name: `reviews ${crypto.randomUUID().slice(0, 8)}`,
      agents: [{ name: 'reviewer', instructions: 'Be strict.' }],
    }),
  });

test('a project is given instructions and an agent, and a session is made with it', async () => {
  const { id, name } = await makeProject();
  const page = await openApp(cloud);
  await goTo(page, cloud, `/projects/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Project instructions').fill('Be brief.');
  await page.getByRole('button', { name: 'Add agent' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Each agent needs a name.').waitFor();
  await page.getByLabel('Agent name').nth(1).fill('writer');
  await page.getByLabel('Agent instructions').nth(1).fill('Write in full sentences.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('reviewer, writer').waitFor();
  expect(await cloud.ask(`/api/projects/${id}`)).toMatchObject({
    instructions: 'Be brief.',
    agents: [{ name: 'reviewer' }, { name: 'writer', instructions: 'Write in full sentences.' }],
  });

  await goTo(page, cloud, '/chat');
  await page.getByText('Project, model, sandbox').click();
  await page.getByLabel('Project').selectOption(name);
  await page.getByLabel('Agent').selectOption('writer');
  await page.getByLabel('Instructions').fill('In French.');
  await page.getByLabel('Max cost').fill('-1');
  await page.getByText('Enter a sum from 0 to 100000.').waitFor();
  await page.getByLabel('Max cost').fill('2.5');
  await page.getByLabel('Max tool calls').fill('0');
  await page.getByText('Enter a whole number from 1.').waitFor();
  await page.getByLabel('Max tool calls').fill('20');
  await say(page, 'hello');
  await ended(page);
  type Listed = { readonly id: string; readonly maxCostUsd: number };
  const { sessions } = await cloud.ask<{ sessions: readonly Listed[] }>('/api/sessions');
  expect(sessions[0]?.maxCostUsd).toBe(2.5);
  expect(await cloud.ask(`/api/sessions/${sessions[0]?.id}/tree`)).toMatchObject({
    sessions: [{ slice: { maxToolCalls: 20 } }],
  });
  const [asked] = model.asked.slice(-1).map((request) => JSON.stringify(request));
  for (const part of ['Be brief.', 'Write in full sentences.', 'In French.']) expect(asked).toContain(part);
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

test('the wait for a provider is counted down, and a failure says whose it is', async () => {
  const page = await openApp(cloud);
  await goTo(page, cloud, '/chat');
  model.script.push({ status: 529, retryAfter: '2' });
  await say(page, 'first');
  await page.getByText(/^Anthropic is overloaded\. Trying again in \d s \(try 2\)/).waitFor();
  await ended(page);
  expect(await page.getByText('Trying again').count()).toBe(0);

  model.script.push({ text: 'The answer is' }, { status: 529, retryAfter: '3600' });
  await say(page, 'second');
  await ended(page, 2);
  await page.getByText('The answer was interrupted here.').waitFor();
  await page.getByText('Tried once.').waitFor();
  await say(page, 'third');
  await ended(page, 3);
  await page.getByText(/asks for a pause of \d+ s/).waitFor();
  await page.reload();
  await ended(page, 3);
  await page.getByText('The answer was interrupted here.').waitFor();
});

test('the form of a project with agents, in every look', async () => {
  const { id } = await makeProject();
  await inEveryLook(cloud, 'project-agents', async (page) => {
    await goTo(page, cloud, `/projects/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Agent name').waitFor();
    await page.getByLabel('Project instructions').fill('Be brief.');
  });
});

test('a failed answer, in every look', async () => {
  model.script.push({ text: 'The answer is' });
  await inEveryLook(cloud, 'broken-answer', async (page) => {
    await goTo(page, cloud, '/chat');
    await say(page, 'hello');
    await ended(page);
    await eventually(
      () => page.getByText('The answer was interrupted here.').count(),
      (count) => count === 1,
    );
  });
});

test('what an agent in the sandbox asks is approved on the page, and it goes on', async () => {
  const wish = { flavor: 'micro', runtime: 'opencode', model: 'a-model', approvals: 'ask' };
  const { id } = await makeSession(cloud, wish);
  const sandbox = await new Sallyport(cloud).sandboxes.get(id);
  const program = new URL('../e2e/opencode/fixtures/fake-opencode.mjs', import.meta.url);
  await sandbox.files.write('.local/bin/opencode', await readFile(program));
  await sandbox.exec('chmod +x .local/bin/opencode');
  const page = await openApp(cloud);
  await openSession(page, cloud, id);
  await say(page, 'write made.txt\nask cat made.txt\nsay The end.');
  await promptOf(page)
    .getByText('The agent in the sandbox asks for approval and then runs the call itself.')
    .waitFor();
  await promptOf(page).getByText('filepath').waitFor();
  await approve(page);
  await promptOf(page).getByText('cat made.txt').first().waitFor();
  await approve(page);
  await ended(page);
  await page.getByText('The end.', { exact: true }).waitFor();
  expect(await decidedEvents(cloud, id)).toMatchObject([
    { name: 'edit', approved: true, by: { kind: 'token' } },
    { name: 'bash', approved: true, by: { kind: 'token' } },
  ]);
  expect(await sandbox.files.read('made.txt')).toBe('written\n');
});
