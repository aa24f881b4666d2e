/** Operator page: numbers after some turns, as charts, sentences and tables. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession, type Shown } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';

let cloud: EmbeddedCloud;
type Waiting = Shown & { readonly pendingApprovals: readonly { readonly callId: string }[] };

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

/** An agent with a pending approval. */
const untilItAsks = async (): Promise<Waiting> => {
  const { id } = await makeSession(cloud, {});
  await cloud.ask(`/api/sessions/${id}/messages`, post({ text: '$ echo hello' }));
  return eventually(
    () => cloud.ask<Waiting>(`/api/sessions/${id}`),
    ({ pendingApprovals }) => pendingApprovals.length > 0,
    30_000,
  );
};

beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_MAX_SESSIONS: '2', MSB_EVICT_IDLE: 'false' } });
  const { id, pendingApprovals } = await untilItAsks();
  await cloud.ask(`/api/sessions/${id}/approvals/${pendingApprovals[0]?.callId}`, post({ approved: true }));
  await eventually(
    () => cloud.ask<Shown>(`/api/sessions/${id}`),
    ({ status }) => status === 'idle',
    60_000,
  );
  await untilItAsks();
  for (const expected of [200, 200, 429]) {
    const { id: execution } = await cloud.ask<{ id: string }>('/api/sessions', post({ kind: 'execution' }));
    const { status } = await cloud.request(`/api/sessions/${execution}/exec`, post({ command: 'true' }));
    expect(status).toBe(expected);
  }
  await cloud.janitor({ sweep: 'orphans' });
});
afterAll(() => cloud.stop());

test('activity is shown as charts, sentences and tables', async () => {
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/operator`);
  const starts = page.getByRole('figure', { name: 'Sandbox starts' });
  await starts.getByText(/^3 cold \(median .+, 95th percentile .+\), 0 warm, 0 failed\.$/).waitFor();
  await starts.locator('canvas').waitFor();
  await page
    .getByRole('figure', { name: 'Approvals decided' })
    .getByText(/^1 decided/)
    .waitFor();
  await page.getByRole('figure', { name: 'Active' }).getByText('Sandboxes running 3 now').waitFor();
  const errors = page.getByRole('figure', { name: 'Errors' });
  await errors.getByText('1 error, most often resource_limit_exceeded (1).').waitFor();
  await page
    .getByRole('region', { name: 'Errors by code' })
    .getByRole('row', { name: /resource_limit_exceeded\s+1/ })
    .waitFor();

  const waiting = page.getByRole('region', { name: 'Pending approvals' });
  await waiting.getByText('execute_command').waitFor();
  await waiting.getByText('needs approval').waitFor();
  await waiting.getByRole('link', { name: /^Open/ }).waitFor();
  const limits = page.getByRole('region', { name: 'Limits in use' });
  expect((await limits.innerText()).replaceAll(/\s+/g, ' ')).toContain(
    'Execution slots 2 of 2 · nearly full',
  );
  expect(await limits.getByRole('meter', { name: 'Execution slots' }).getAttribute('value')).toBe('2');

  await starts.getByText('Show as table').click();
  const row = starts.getByRole('row').nth(1);
  expect((await row.getByRole('cell').allInnerTexts()).map((text) => text.trim())).toEqual(['3', '0', '0']);
  await screenshot(page, 'operator');
});

test('a queue of calls is one pending approval in the badge, the tile and the lists', async () => {
  const { id } = await makeSession(cloud, {});
  onTestFinished(async () => void (await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' })));
  await cloud.ask(`/api/sessions/${id}/messages`, post({ text: '$ echo one\n$ echo two\n$ echo three' }));
  await eventually(
    () => cloud.ask<Waiting>(`/api/sessions/${id}`),
    ({ pendingApprovals }) => pendingApprovals.length === 3,
    60_000,
  );
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/operator`);
  // One of the session that waits all along, and one of this.
  const entry = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Approvals/ });
  await entry.getByText('2 pending approvals').waitFor();
  const tile = page.locator('.tile', { hasText: 'Pending approvals' });
  expect((await tile.locator('.value').innerText()).trim()).toBe('2');
  await page.getByRole('region', { name: 'Pending approvals' }).getByText(', then 2 more').waitFor();
  await page.goto(`${cloud.url}/#/sessions`);
  await page.getByText('2 pending approvals ·').waitFor();
  await page.goto(`${cloud.url}/#/approvals`);
  await page.getByRole('navigation', { name: 'Pending calls' }).getByRole('button').nth(1).waitFor();
  expect(await page.getByRole('navigation', { name: 'Pending calls' }).getByRole('button').count()).toBe(2);
});

test('the time range is chosen by keyboard, and the point under the pointer is shown', async () => {
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/operator`);
  await page.getByText('in steps of 5 minutes').waitFor();
  await page.getByRole('radio', { name: 'Last hour' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.getByText('in steps of 3 hours').waitFor();
  expect(await page.getByRole('radio', { name: 'Last week' }).isChecked()).toBe(true);
  const drawing = page.getByRole('figure', { name: 'Sandbox starts' }).locator('.u-over');
  const box = await drawing.boundingBox();
  if (box === null) throw new Error('nothing is drawn');
  await page.mouse.move(box.x + box.width - 30, box.y + box.height / 2);
  await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2);
  await screenshot(page, 'operator-pointed');
  await page.getByText(/Cold 3 · Warm 0 · Failed 0/).waitFor();
});

test('a project token sees its project, with empty charts when there is no data', async () => {
  const { id } = await cloud.ask<{ id: string }>('/api/projects', post({ name: 'quiet' }));
  const { token } = await cloud.ask<{ token: string }>(
    '/api/tokens',
    post({ name: 't', scope: `project:${id}:ro` }),
  );
  const page = await openApp({ url: cloud.url, token });
  await page.goto(`${cloud.url}/#/operator`);
  await page.getByText('Activity, pending approvals and errors in your project.').waitFor();
  await page.getByText('0 cold, 0 warm, 0 failed.').waitFor();
  expect(await page.getByText('No data', { exact: true }).count()).toBe(5);
  await page.getByText('No pending approvals.').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'operator-empty');
});

test.each([
  ['light', undefined],
  ['dark', undefined],
  ['light', phone],
  ['dark', phone],
] as const)('axe finds no violation (%s, %j)', async (colorScheme, viewport) => {
  const page = await openApp(cloud, { colorScheme, ...(viewport && { viewport }) });
  await page.goto(`${cloud.url}/#/operator`);
  await page.locator('canvas').first().waitFor();
  await page.getByText('Show as table').first().click();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, `operator-${colorScheme}${viewport ? '-phone' : ''}`);
});
