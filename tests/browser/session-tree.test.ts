/** The panel of a session's agents: what each branch has spent, its slice, and a branch that is stopped. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { connect } from '../e2e/socket-client.ts';
import { openApp } from './browser.ts';
import { goTo, inEveryLook } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { LLM_PROVIDER: 'demo' } });
});
afterAll(() => cloud.stop());

test('the agents of a session are shown with their slices, and a branch is stopped', async () => {
  const { id } = await makeSession(cloud, { approvals: 'auto' });
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  const spawn = { action: 'spawn', prompt: 'say hello', max_cost_usd: 0.5 };
  client.send('message', { text: `call session ${JSON.stringify(spawn)}` });
  await client.untilType('completion');
  await client.close();
  await inEveryLook(cloud, 'session-agents', async (looked) => {
    await goTo(looked, cloud, `/chat/${id}?panel=agents`);
    await looked.getByRole('region', { name: 'Agents' }).getByRole('link', { name: 'say hello' }).waitFor();
  });
  const page = await openApp(cloud);
  await goTo(page, cloud, `/chat/${id}?panel=agents`);
  const panel = page.getByRole('region', { name: 'Agents' });
  await panel.getByRole('link', { name: 'say hello' }).waitFor();
  await panel.getByText('slice $0.00 of $0.50').waitFor();
  expect(await panel.getByText('Unsettled', { exact: true }).count()).toBe(1);
  await panel.getByRole('button', { name: 'Stop say hello' }).click();
  await page.getByRole('button', { name: 'Stop branch' }).click();
  await panel.getByText('completed').waitFor();
});
