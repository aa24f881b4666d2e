/** Webhooks page: create with a secret shown once, test, disable, delete; deliveries. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Loopback, listen, text } from '../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, screenshot } from './browser.ts';
import { goTo, inEveryLook } from './looks.ts';
import { post, untilItAsks } from './waiting.ts';

let cloud: EmbeddedCloud;
let receiver: Loopback;
const received: string[] = [];
beforeAll(async () => {
  receiver = await listen(async (request, response) => {
    received.push(await text(request));
    response.writeHead(204).end();
  });
  cloud = await openEmbeddedCloud({ variables: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } });
});
afterAll(async () => {
  await cloud.stop();
  await receiver.stop();
});
/** Each try of a test begins without webhooks. */
beforeEach(async () => {
  const { webhooks } = await cloud.ask<{ webhooks: readonly { id: string }[] }>('/api/webhooks');
  for (const { id } of webhooks) await cloud.request(`/api/webhooks/${id}`, { method: 'DELETE' });
});

test('a webhook is created, tested, used, disabled and deleted', async () => {
  const page = await openApp(cloud);
  await goTo(page, cloud, '/webhooks');
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  await page.getByRole('button', { name: 'New webhook' }).click();
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByRole('button', { name: 'Create webhook' }).click();
  await form.getByText('Enter a URL.').waitFor();
  await form.getByLabel('URL').fill(receiver.url);
  expect(await axe(page)).toEqual([]);
  await form.getByRole('button', { name: 'Create webhook' }).click();
  const told = page.getByRole('dialog', { name: 'Webhook secret' });
  const selected = () =>
    told
      .getByLabel('Secret', { exact: true })
      .and(page.locator(':focus'))
      .evaluate((field: HTMLInputElement) =>
        field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0),
      );
  await expect.poll(selected).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  await told.getByRole('button', { name: 'Done' }).click();
  const card = page.getByRole('listitem').filter({ hasText: receiver.url });
  await card.getByRole('button', { name: 'Test' }).click();
  await card.getByText(/^HTTP 204 after \d+ ms$/).waitFor();
  // A session is called by the first words that are said in it.
  const { id } = await makeSession(cloud, {});
  await cloud.ask(`/api/sessions/${id}/messages`, post({ text: 'hello' }));
  await untilItAsks(cloud, '$ echo secret-argument', id);
  await card.getByRole('button', { name: 'Recent deliveries' }).click();
  const row = card.getByRole('row', { name: /Approval required/ });
  await eventually(
    async () => {
      await card.getByRole('button', { name: 'Refresh' }).click();
      return row.getByText('delivered').count();
    },
    (count) => count > 0,
    30_000,
  );
  await row.getByText('delivered').waitFor();
  await row.getByText('HTTP 204').waitFor();
  expect(received.join()).not.toContain('secret-argument');
  await screenshot(page, 'webhooks');
  await card.getByRole('button', { name: 'Disable' }).click();
  await card.getByText('disabled', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Enable' }).click();
  await card.getByText('enabled', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
});

test('a refusal is gone with the next try, and from a form that is opened again', async () => {
  const page = await openApp(cloud, { expects: /400 \(Bad Request\)/ });
  await goTo(page, cloud, '/webhooks');
  await page.getByRole('button', { name: 'New webhook' }).click();
  const form = page.getByRole('dialog', { name: 'New webhook' });
  const refused = form.getByText('The address of 10.0.0.1 is private');
  const create = form.getByRole('button', { name: 'Create webhook' });
  await form.getByLabel('URL').fill('http://10.0.0.1/');
  await form.getByLabel('Turn failed').check();
  await create.click();
  await refused.waitFor();
  await form.getByLabel('URL').fill('');
  await create.click();
  await form.getByText('Enter a URL.').waitFor();
  await refused.waitFor({ state: 'detached' });
  await form.getByLabel('URL').fill('http://10.0.0.1/');
  await create.click();
  await refused.waitFor();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'New webhook' }).click();
  await form.getByLabel('URL').waitFor();
  expect(await refused.count()).toBe(0);
  expect(await form.getByLabel('Turn failed').isChecked()).toBe(false);
});

test('axe finds no violation', async () => {
  await cloud.ask('/api/webhooks', post({ url: receiver.url, events: ['approval_required', 'turn_failed'] }));
  await inEveryLook(cloud, 'webhooks', async (page) => {
    await goTo(page, cloud, '/webhooks');
    await page.getByRole('listitem').filter({ hasText: receiver.url }).waitFor();
  });
});
