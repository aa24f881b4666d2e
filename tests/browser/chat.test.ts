/** The chat: messages, calls decided one after the other, live output, reloads. */
import type { Page, WebSocketRoute } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type AnthropicServer, openAnthropicServer } from '../e2e/anthropic-server.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, desktop, openApp, screenshot } from './browser.ts';
import { approve, ended, mayApprove, place, say } from './chat.ts';
import { everyLookOf } from './looks.ts';

const questions = (page: Page): Promise<string[]> =>
  page.locator('[data-kind="question"] .written').allInnerTexts();

/** A browser that is offline opens no connection, but Chromium leaves those that are open: this closes them. */
const cuttable = async (page: Page): Promise<() => Promise<void>> => {
  const open: WebSocketRoute[] = [];
  await page.routeWebSocket(/./, (socket) => {
    socket.connectToServer();
    open.push(socket);
  });
  return async () => void (await Promise.all(open.splice(0).map((socket) => socket.close())));
};

let model: AnthropicServer;
let cloud: EmbeddedCloud;
beforeAll(async () => {
  model = await openAnthropicServer();
  const variables = {
    ...{ ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: model.url, LLM_PROVIDER: 'demo' },
    MODEL_PRICES: JSON.stringify({ dear: { input: 1000, output: 1000 } }),
  };
  cloud = await openEmbeddedCloud({ variables });
});
afterAll(async () => {
  await cloud.stop();
  model.close();
});
/** A project has ten slots; each test leaves its own. */
afterEach(async () => {
  const { sessions } = await cloud.ask<{ readonly sessions: readonly { readonly id: string }[] }>(
    '/api/sessions?status=active',
  );
  await Promise.all(sessions.map(({ id }) => cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' })));
});

test('an answer arrives, and the demo provider is named as no language model', async () => {
  const page = await openApp(cloud);
  await page.getByText('The demo provider is not a language model').waitFor();
  await screenshot(page, 'new-session');
  await say(page, 'hello');
  await ended(page);
  await page.locator('[data-kind="answer"]').waitFor();
  await page.getByText('Demo: no language model').first().waitFor();
});

test('two calls are approved one after the other', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo first > a.txt && cat a.txt\n$ echo second');
  await place(page, '1 of 2');
  // The number comes by a frame of its own.
  await page.waitForFunction(() => /^\(1\) \$ echo first.* · Sallyport$/.test(document.title));
  await page.getByRole('navigation', { name: 'Recent sessions' }).getByText('needs approval').waitFor();
  await screenshot(page, 'approval');
  await approve(page);
  await place(page, '2 of 2');
  await approve(page);
  await ended(page);
  expect(await page.locator('.call .terminal').allInnerTexts()).toEqual([
    expect.stringContaining('first'),
    expect.stringContaining('second'),
  ]);
  await screenshot(page, 'chat');
  const details = page.getByRole('button', { name: 'Details of the call' }).first();
  await details.click();
  expect(await page.locator('.call .terminal').allInnerTexts()).toEqual([expect.stringContaining('second')]);
  expect(await details.getAttribute('aria-expanded')).toBe('false');
  await details.click();
  await page.locator('.call .terminal').nth(1).waitFor();
});

test("a child's call is shown and approved in its parent's chat", async () => {
  const page = await openApp(cloud, { expects: /ERR_FAILED/ });
  const prompt = page.getByLabel('Waiting for your approval');
  const child = page.getByRole('link', { name: /^child session [0-9a-f]{8}$/ });
  await say(page, 'call session {"action":"spawn","prompt":"$ echo from below"}');
  await prompt.getByText('Start another agent').waitFor();
  expect(await child.count()).toBe(0);
  await approve(page);
  await prompt.getByText('Run a command').waitFor();
  expect(await prompt.innerText()).toContain('echo from below');
  await prompt.locator(child).waitFor();
  await page
    .getByLabel('Tool call: Run a command')
    .filter({ hasText: 'needs approval' })
    .locator(child)
    .waitFor();
  await page.waitForFunction(() => /^\(1\) call session.* · Sallyport$/.test(document.title));
  await screenshot(page, 'approval-child');
  await page.route(/\/approvals\//, (route) => route.abort(), { times: 1 });
  await approve(page);
  await page.getByText(/^Not decided: /).waitFor();
  await approve(page);
  await ended(page);
  await page.locator('[data-kind="answer"]', { hasText: 'from below' }).last().waitFor();
  expect(await child.count()).toBe(0);
  const recent = page.getByRole('navigation', { name: 'Recent sessions' });
  await recent
    .getByRole('link', { name: /^Child session: \$ echo from below/ })
    .first()
    .waitFor();
});

test('the second half of a double click does not decide the next call', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo first\n$ echo second');
  await place(page, '1 of 2');
  await mayApprove(page);
  await page.getByRole('button', { name: 'Approve', exact: true }).hover();
  await page.mouse.down();
  await page.mouse.up();
  await place(page, '2 of 2');
  await mayApprove(page);
  await page.getByRole('button', { name: 'Approve', exact: true }).hover();
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await page.getByRole('button', { name: 'Reject' }).click();
  await ended(page);
  await page.getByLabel('Tool call').nth(1).getByText('rejected', { exact: true }).waitFor();
});

test('a session that has ended is resumed with its conversation', async () => {
  const page = await openApp(cloud);
  await say(page, 'hello');
  await ended(page);
  await page.locator('[data-kind="answer"]').waitFor();
  const { sessions } = await cloud.ask<{ sessions: readonly { id: string }[] }>(
    '/api/sessions?status=active',
  );
  await cloud.ask(`/api/sessions/${sessions[0]?.id}`, { method: 'DELETE' });
  await page.getByText('This session has ended.').waitFor();
  await screenshot(page, 'ended-session');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('.bar').getByText('idle', { exact: true }).waitFor();
  await say(page, 'hello again');
  await page.locator('[data-kind="answer"]').nth(1).waitFor();
});

test('the URL of an unknown session creates none', async () => {
  const page = await openApp(cloud, { expects: /status of 404/ });
  const id = crypto.randomUUID();
  await page.goto(`${cloud.url}/#/chat/${id}`);
  await page.getByRole('heading', { name: 'Session not found' }).waitFor();
  expect((await cloud.request(`/api/sessions/${id}`)).status).toBe(404);
});

test('a rejected call does not run, and the answer says so', async () => {
  const page = await openApp(cloud);
  await say(page, '$ touch never');
  await page.getByRole('button', { name: 'Reject' }).click();
  await ended(page);
  await page
    .getByLabel(/^Tool call/)
    .getByText('rejected', { exact: true })
    .waitFor();
});

test('a failed program is not shown as done', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo tried; exit 3');
  await approve(page);
  await ended(page);
  const call = page.getByLabel('Tool call: Run a command');
  await call.getByText(/^exit code 3 after \d/).waitFor();
  expect(await call.innerText()).toContain('tried');
});

test('a tool that is always allowed in a session needs no further approval', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo one');
  await page.getByRole('button', { name: 'Always for this session' }).click();
  await ended(page);
  await say(page, '$ echo two');
  await ended(page, 2);
});

test('live output is shown, and a running turn is cancelled', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo begun; sleep 60; echo finished');
  await approve(page);
  await page.locator('.terminal').getByText('begun').waitFor();
  expect(
    await page
      .getByLabel(/^Tool call/)
      .getByText('running')
      .count(),
  ).toBe(1);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.locator('[data-kind="end"]').getByText('Cancelled').waitFor();
});

test('a reload in the middle loses nothing', async () => {
  const page = await openApp(cloud);
  await say(page, '$ for i in 1 2 3 4 5 6; do echo line $i; sleep 0.5; done');
  await approve(page);
  await page.locator('.terminal').getByText('line 2').waitFor();
  await page.reload();
  await ended(page);
  expect(await page.locator('.terminal').innerText()).toMatch(
    /line 1\nline 2\nline 3\nline 4\nline 5\nline 6/,
  );
  expect(await page.locator('[data-kind="question"]').count()).toBe(1);
});

test('messages that wait for their turn are marked as queued', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo first');
  await place(page, '1 of 1');
  await say(page, 'and then this');
  await page.locator('[data-kind="question"]').getByText('Queued').waitFor();
  await approve(page);
  await ended(page, 2);
  expect(await page.locator('[data-kind="question"]').getByText('Queued').count()).toBe(0);
});

test('a queued message survives a reload and runs once', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo first');
  await place(page, '1 of 1');
  await say(page, 'and then this');
  await page.locator('[data-kind="question"]').getByText('Queued').waitFor();
  await page.reload();
  await page.locator('[data-kind="question"]').getByText('Queued').waitFor();
  expect(await page.locator('[data-kind="question"]').allInnerTexts()).toEqual([
    expect.stringContaining('$ echo first'),
    expect.stringContaining('and then this'),
  ]);
  await approve(page);
  await ended(page, 2);
  await page.reload();
  await ended(page, 2);
  expect(await page.locator('[data-kind="question"]').count()).toBe(2);
});

test('two browsers write in one conversation, one of them offline for a while: one history, each message once', async () => {
  const [near, far] = await Promise.all([
    openApp(cloud),
    openApp(cloud, { expects: /WebSocket connection|ERR_INTERNET_DISCONNECTED/ }),
  ]);
  await say(near, 'opens the conversation');
  await ended(near);
  const cut = await cuttable(far);
  await far.goto(near.url());
  await far.reload();
  await ended(far);
  await Promise.all([say(near, 'near, together'), say(far, 'far, together')]);
  await Promise.all([ended(near, 3), ended(far, 3)]);

  await far.context().setOffline(true);
  await cut();
  await far.getByText('Offline').first().waitFor();
  await say(far, 'far, offline');
  await say(far, 'far, offline again');
  await say(near, 'near, meanwhile');
  await ended(near, 4);
  await say(near, 'near, meanwhile again');
  await ended(near, 5);
  expect(await questions(far)).toEqual(expect.arrayContaining(['far, offline', 'far, offline again']));
  expect(await far.locator('[data-kind="end"]').count()).toBe(3);
  await far.context().setOffline(false);
  await Promise.all([ended(near, 7), ended(far, 7)]);

  const written = await questions(near);
  expect(written.toSorted()).toEqual(
    [
      ...['opens the conversation', 'near, together', 'far, together', 'near, meanwhile'],
      ...['near, meanwhile again', 'far, offline', 'far, offline again'],
    ].toSorted(),
  );
  expect(written.indexOf('far, offline')).toBeLessThan(written.indexOf('far, offline again'));
  expect(await questions(far)).toEqual(written);
  for (const page of [near, far]) {
    expect(await page.locator('[data-kind="answer"]').count()).toBe(7);
    await page.reload();
    await ended(page, 7);
    expect(await questions(page)).toEqual(written);
  }
});

test('a file to write is shown as a diff', async () => {
  const page = await openApp(cloud);
  await say(page, '$ printf "one\\ntwo\\nthree\\n" > list.txt');
  await approve(page);
  await ended(page);
  await say(page, 'write list.txt one\nwrite other.txt hello');
  const prompt = page.getByLabel('Waiting for your approval');
  await prompt.getByText('Compared with the current file').waitFor();
  await prompt.locator('.removed').first().waitFor();
  await screenshot(page, 'approval-diff');
  await approve(page);
  await prompt.getByText('A new file').waitFor();
  await approve(page);
  await ended(page, 2);
});

describe('by keyboard alone', () => {
  test('a call is approved, and shortcuts do nothing while the user types', async () => {
    const page = await openApp(cloud);
    await page.getByLabel('Message').focus();
    await page.keyboard.type('$ echo by keys');
    await page.keyboard.press('Enter');
    await place(page, '1 of 1');
    await page.getByLabel('Message').focus();
    await page.keyboard.type('a');
    expect(await page.getByLabel('Message').inputValue()).toBe('a');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Alt+a');
    await page.keyboard.press('Escape');
    await place(page, '1 of 1');
    await page.keyboard.press('a');
    await page.keyboard.press('s');
    await page.keyboard.press('r');
    await place(page, '1 of 1');
    await mayApprove(page);
    await page.keyboard.press('Alt+a');
    await ended(page);
  });

  test('the focus goes from the approval prompt to the conversation, and shortcuts act there', async () => {
    const page = await openApp(cloud);
    await say(page, '$ echo one\n$ echo two');
    await place(page, '1 of 2');
    await mayApprove(page);
    await page.getByRole('button', { name: 'Approve', exact: true }).focus();
    await page.keyboard.press('Enter');
    await place(page, '2 of 2');
    await mayApprove(page);
    await page.getByRole('button', { name: 'Approve', exact: true }).focus();
    await page.keyboard.press('Enter');
    await ended(page);
    const named = () => document.activeElement?.getAttribute('aria-label');
    expect(await page.evaluate(named)).toBe('Conversation');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  });

  test('Tab leads from the skip link over the navigation to the message box and its buttons', async () => {
    const page = await openApp(cloud);
    await page.getByRole('heading', { name: 'What should the agent do?' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  });
});

test('axe finds no violation in a conversation, whose calls are approved on a phone and on a desktop', async () => {
  const page = await openApp(cloud);
  await page.getByLabel('Message').waitFor();
  await page.getByRole('list', { name: 'Examples' }).waitFor();
  await everyLookOf(page, 'chat-new');
  await say(
    page,
    '$ printf "\\033[31mred\\033[0m and \\033[1;32mgreen\\033[0m\\n"; ls -la /\n```python\nprint("so it ends")\n```',
  );
  await place(page, '1 of 2');
  await approve(page);
  await place(page, '2 of 2');
  await mayApprove(page);
  await everyLookOf(page, 'chat-approval');
  await page.setViewportSize(desktop);
  await approve(page);
  await ended(page);
  await everyLookOf(page, 'chat');
  const { id } = await makeSession(cloud, { provider: 'anthropic' });
  model.script.push({ says: 'so $x^2$ costs $5 and $6, and $$\\frac{1}{2}$$' });
  await page.goto(`${cloud.url}/#/chat/${id}`);
  await say(page, 'how much?');
  await page.locator('[data-kind="answer"] math mfrac').waitFor();
  expect(await page.locator('math').count()).toBe(2);
  await everyLookOf(page, 'chat-maths');
});

/** A picture that no frame has room for, with the data of its chart; and a table. */
const figure = `
import os, struct, zlib
def part(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
noise = b''.join(b'\\0' + os.urandom(360) for _ in range(120))
png = b'\\x89PNG\\r\\n\\x1a\\n' + part(b'IHDR', struct.pack('>IIBBBBB', 120, 120, 8, 2, 0, 0, 0)) + part(b'IDAT', zlib.compress(noise)) + part(b'IEND', b'')
axes = {'x': {'label': 'epoch', 'scale': 'linear'}, 'y': {'label': '', 'scale': 'linear'}}
series = [{'type': 'line', 'label': 'train', 'points': [[1, 9], [2, 4]]}]
class Figure:
    def _repr_mimebundle_(self, include, exclude):
        chart = {'type': 'line', 'title': 'Loss', 'axes': axes, 'series': series}
        return {'image/png': png, 'application/vnd.sallyport.chart+json': chart}
display(Figure())
fields = [{'name': 'city', 'type': 'string'}, {'name': 'price', 'type': 'number'}]
rows = [{'city': 'Rome', 'price': 20}, {'city': 'Oslo', 'price': 9}, {'city': 'Lima', 'price': None}]
display('application/vnd.dataresource+json', {'schema': {'fields': fields}, 'data': rows, 'rows': 900})
`;

test('a chart is shown with its data, and a table can be sorted', async () => {
  const { id } = await makeSession(cloud, { approvals: 'auto' });
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/chat/${id}`);
  await say(page, `\`\`\`python${figure}\`\`\``);
  await ended(page);
  const picture = page.getByRole('img', { name: 'Line chart: Loss. train' });
  await picture.waitFor();
  await page.waitForFunction(
    () => document.querySelector<HTMLImageElement>('img.picture')?.naturalWidth === 120,
  );
  await page.getByText('Data of the chart').click();
  const data = page.getByRole('region', { name: 'Line chart: Loss. train' });
  expect(await data.getByRole('cell').allInnerTexts()).toEqual(['1', '9', '2', '4']);
  const table = page.getByRole('region', { name: 'Table' });
  await table.getByRole('button', { name: 'price' }).press('Enter');
  expect(await table.getByRole('cell').allInnerTexts()).toEqual(['Oslo', '9', 'Rome', '20', 'Lima', '–']);
  await page.getByText('First 3 of 900 rows').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'results');
});

test('behind a proxy without WebSockets a conversation goes by requests, and says that it is slower', async () => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  const page = await openApp(cloud);
  await page.routeWebSocket(/sessionId=/, (socket) => void socket.close());
  await page.goto(`${cloud.url}/#/chat/${id}`);
  await page.getByText('Live updates are slower').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'by-requests');
  await say(page, '$ echo by $((1 + 1)) requests');
  await place(page, '1 of 1');
  await mayApprove(page);
  await approve(page);
  await ended(page);
  await page.getByText('by 2 requests').first().waitFor();
  expect(await questions(page)).toEqual(['$ echo by $((1 + 1)) requests']);
});

test('a session whose provider has no key says what to do, and gives its message back', async () => {
  const body = JSON.stringify({ provider: 'openai' });
  const { id } = await cloud.ask<{ readonly id: string }>('/api/sessions', { method: 'POST', body });
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/chat/${id}`);
  await page.getByText('choose another provider').waitFor();
  await page.getByRole('link', { name: 'Check the provider' }).waitFor();
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('a long thought');
  await page.keyboard.press('Enter');
  await page.getByText('It may not have been sent. Retry sends it, once.').waitFor();
  expect(await page.getByText('Sending', { exact: true }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.reload();
  await page.getByText('It may not have been sent. Retry sends it, once.').waitFor();
  await page.locator('[data-kind="question"]').getByRole('button', { name: 'Copy text' }).waitFor();
  await page.locator('[data-kind="question"]').getByRole('button', { name: 'Edit' }).click();
  expect([await box.inputValue(), await questions(page)]).toEqual(['a long thought', []]);
});

test('a spent budget is changed where the turn ended, and a limit that was not granted is told', async () => {
  const body = JSON.stringify({ provider: 'anthropic', model: 'dear', maxCostUsd: 0 });
  const { id } = await cloud.ask<{ readonly id: string }>('/api/sessions', { method: 'POST', body });
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/chat/${id}`);
  // The call that passes the limit is the last one.
  await say(page, 'hello');
  await ended(page);
  await say(page, 'again');
  await page.getByText('The session has used up its budget.').waitFor();
  await page.getByRole('button', { name: 'Change budget' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change budget' });
  await dialog.getByLabel('Max cost (USD)').fill('99999');
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByText('This session may spend at most').waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByLabel('Max cost (USD)').fill('1');
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('send a message to continue').waitFor();
});

test('Send with a wrong option leads to it', async () => {
  const page = await openApp(cloud);
  await page.getByText('Options').click();
  const limit = page.getByLabel('Max cost (USD)');
  await limit.fill('-1');
  await page.getByRole('textbox', { name: 'Message' }).fill('hello');
  await page.keyboard.press('Enter');
  await expect.poll(() => limit.evaluate((field) => field === document.activeElement)).toBe(true);
});

test('a project whose provider has no key says so before anything is sent', async () => {
  const body = JSON.stringify({ name: 'Without a key', provider: 'openai' });
  await cloud.ask('/api/projects', { method: 'POST', body });
  const page = await openApp(cloud, { expects: /status of 400/ });
  await page.getByText('The demo provider is not a language model').waitFor();
  await page.getByText('Options').click();
  await page.getByLabel('Project').selectOption('Without a key');
  await page.getByRole('alert').getByText('choose another provider').waitFor();
  expect(await page.getByText('The demo provider is not a language model').count()).toBe(0);
});
