/** An hour of a user with the app: their tasks one after the other, with a provider that streams at the speed of a real one. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone } from './browser.ts';
import { ended, mayApprove, say } from './chat.ts';
import { goTo, inEveryLook } from './looks.ts';
import { type AnswerPart, openPacedProvider, type PacedProvider } from './paced-provider.ts';

let provider: PacedProvider;
let cloud: EmbeddedCloud;
beforeAll(async () => {
  provider = await openPacedProvider();
  cloud = await openEmbeddedCloud({
    variables: { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: provider.url, LLM_PROVIDER: 'anthropic' },
  });
});
// A test that failed leaves answers, which the next one would get.
beforeEach(() => void provider.script.splice(0));
afterAll(async () => {
  await cloud.stop();
  provider.close();
});

const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at}`).join(' ');
const write = (path: string, content: string): AnswerPart => ({
  call: 'write_file',
  input: { path, content },
});
const answer = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('[data-kind="answer"]').getByText(text).last().waitFor();

/** Requests of the page to the platform, but for its socket and its own files. */
const countRequests = (page: Page): string[] => {
  const sent: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) sent.push(`${request.method()} ${pathname}`);
  });
  return sent;
};

test('the first page lists the sessions, and no failure', async () => {
  const page = await openApp(cloud);
  const recent = page.getByRole('navigation', { name: 'Recent sessions' });
  const failed = recent.getByRole('button', { name: 'Retry' });
  await recent.getByText('No sessions yet.').or(failed).waitFor();
  expect(await failed.count()).toBe(0);
});

test('an answer of 2,000 deltas costs at most three requests beside the socket', async () => {
  const page = await openApp(cloud);
  await say(page, 'hello');
  await ended(page);
  await page.waitForLoadState('networkidle');
  provider.script.push([{ text: words(2000) }]);
  const deltasBefore = provider.deltaCount();
  const sent = countRequests(page);
  await say(page, 'now a long one');
  await ended(page, 2);
  await answer(page, /word1999$/);
  await page.waitForLoadState('networkidle');
  expect(provider.deltaCount() - deltasBefore).toBe(2000);
  // Those above three, by name.
  expect(sent.slice(3)).toEqual([]);
});

test('thoughts are folded, a call is approved by keyboard, and its card says who, how long and what changed', async () => {
  provider.script.push(
    [
      { thinking: 'First the notes, then their end.' },
      { text: 'I write it.' },
      write('notes.txt', 'one\ntwo\n'),
    ],
    [write('notes.txt', 'one\nthree\n')],
    [{ text: 'Both versions are written.' }],
  );
  const page = await openApp(cloud);
  await say(page, 'write notes');
  await page.keyboard.type('this types on');
  await page.getByText('Thoughts').waitFor();
  for (const calls of [1, 2]) {
    await mayApprove(page);
    await page.keyboard.press('Alt+a');
    await page
      .locator('.call[data-status="done"]')
      .nth(calls - 1)
      .waitFor();
  }
  await ended(page);
  expect(await page.getByLabel('Message').inputValue()).toBe('this types on');
  expect(await page.getByText('First the notes').isVisible()).toBe(false);
  const card = page.locator('.call').nth(1);
  await card.getByText(/^done in \d/).waitFor();
  await card.getByText(/^Approved by /).waitFor();
  expect(await card.locator('.plus, .minus').allInnerTexts()).toEqual(['+1', '−1']);
});

test('a call that runs says for how long', async () => {
  const command = 'until [ -f go ]; do sleep 0.1; done';
  provider.script.push([{ call: 'execute_command', input: { command } }], [{ text: 'It went.' }]);
  const page = await openApp(cloud);
  await say(page, 'wait for it');
  await mayApprove(page);
  await page.keyboard.press('Alt+a');
  await page
    .locator('.call')
    .getByText(/ · \d+ s$/)
    .waitFor();
  const id = page.url().split('/').at(-1);
  await cloud.request(`/api/sessions/${id}/files/go`, { method: 'PUT', body: '' });
  await ended(page);
  await page
    .locator('.call')
    .getByText(/^done in \d/)
    .waitFor();
});

test('the panel shows files, changes and logs beside the conversation, and the address keeps it', async () => {
  provider.script.push([write('src/app.py', 'print("here")\n')], [{ text: 'There it is.' }]);
  const page = await openApp(cloud);
  await say(page, 'write the app');
  await mayApprove(page);
  await page.keyboard.press('Alt+a');
  await ended(page);
  await page.keyboard.press('Alt+p');
  const panel = page.getByRole('complementary', { name: 'Workspace' });
  await panel.getByRole('treeitem', { name: 'src' }).waitFor();
  await page.getByRole('button', { name: 'Open src/app.py' }).click();
  await panel.getByText('print').first().waitFor();
  await page.waitForURL(/panel=files&file=src\/app\.py|file=src%2Fapp\.py/);
  await page.reload();
  await panel.getByText('print').first().waitFor();
  await page.getByLabel('Message').waitFor();
  await panel.getByRole('tab', { name: /^Changes/ }).click();
  await panel.getByText('+1').waitFor();
  await page.waitForURL(/panel=changes/);
  await inEveryLook(cloud, 'panel', async (own) => {
    await own.goto(page.url());
    await own.getByRole('complementary', { name: 'Workspace' }).getByText('+1').waitFor();
  });
  await panel.getByRole('tab', { name: 'Logs' }).click();
  await panel.getByText(/sandbox 1 ready/).waitFor();
  await panel.getByRole('tab', { name: 'Terminal' }).click();
  await panel.getByRole('button', { name: 'New terminal' }).waitFor();
  await panel.getByRole('button', { name: 'Close the panel' }).click();
  await panel.waitFor({ state: 'detached' });
  expect(page.url()).not.toContain('panel');
  await page.keyboard.press('Alt+p');
  await panel.waitFor();
  await page.keyboard.press('Alt+p');
  await panel.waitFor({ state: 'detached' });
});

test('a stop keeps the text, and a message that was queued meanwhile is answered', async () => {
  provider.script.push([{ text: words(1500) }], [{ text: 'The queued one.' }]);
  const page = await openApp(cloud);
  await say(page, 'talk');
  await answer(page, /word30 /);
  await say(page, 'and then this');
  await page.getByText('Queued').waitFor();
  await page.keyboard.press('Alt+c');
  await page.locator('[data-kind="end"]', { hasText: 'Cancelled' }).waitFor();
  await answer(page, /word30 /);
  await answer(page, 'The queued one.');
});

test('on a phone a message can be sent, and the turn stopped, while it runs', async () => {
  provider.script.push([{ text: words(600) }]);
  const page = await openApp(cloud, { viewport: phone });
  await say(page, 'talk to the phone');
  await answer(page, /word5 /);
  for (const name of ['Stop', 'Send']) {
    const box = await page.getByRole('button', { name, exact: true }).boundingBox();
    expect((box?.x ?? Number.NaN) + (box?.width ?? 0)).toBeLessThan(phone.width);
  }
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.locator('[data-kind="end"]', { hasText: 'Cancelled' }).waitFor();
});

test('each failure of the provider names it and has one next step; text before it stays', async () => {
  const page = await openApp(cloud);
  const first = `refused ${crypto.randomUUID().slice(0, 8)}`;
  provider.script.push({ status: 401 });
  await say(page, first);
  await page.getByText(/^Tried /).waitFor();
  const recent = page.getByRole('navigation', { name: 'Recent sessions' });
  await recent.getByRole('link', { name: new RegExp(`^${first}.*last turn failed$`) }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: `${first} Session, last turn failed` }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Try again' }).click();
  await answer(page, 'Done.');

  provider.script.push({ status: 429, retryAfter: '3' }, [{ text: 'After the pause.' }]);
  await say(page, 'limited');
  await page.getByText(/Trying again/).waitFor();
  await answer(page, 'After the pause.');

  provider.script.push([{ text: 'Half of it' }, { breaks: true }], [{ text: 'All of it.' }]);
  await say(page, 'broken off');
  await answer(page, /Half of it|All of it/);
  await page.locator('[data-kind="end"]').nth(3).waitFor();
  expect(await axe(page)).toEqual([]);
});

test('twelve conversations are held, found, sorted and counted', async () => {
  const page = await openApp(cloud);
  const name = `conversation ${crypto.randomUUID().slice(0, 8)}:`;
  for (let number = 1; number <= 12; number += 1) {
    await page.goto(`${cloud.url}/#/chat`);
    await page.getByRole('heading', { name: 'What should the agent do?' }).waitFor();
    await say(page, `${name} ${number}`);
    await ended(page);
  }
  await page.goto(`${cloud.url}/#/sessions`);
  await page.getByRole('button', { name: 'Session', exact: true }).click();
  const titles = page.locator('table .title');
  await page.waitForURL(/sort=session/);
  const numbers = (await titles.allInnerTexts()).filter((title) => title.startsWith(name));
  expect(numbers.slice(0, 12)).toEqual(Array.from({ length: 12 }, (_, at) => `${name} ${at + 1}`));
  await page.goto(`${cloud.url}/#/usage?by=model`);
  await page.getByRole('cell', { name: /^Anthropic · / }).waitFor();
  await inEveryLook(cloud, 'usage', async (own) => {
    await own.goto(`${cloud.url}/#/usage`);
    await own.getByRole('tab', { name: 'Day' }).waitFor();
    await own.locator('td').first().waitFor();
  });
});

test('the way to the newest is offered only while it is out of sight', async () => {
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at}\n`).join('');
  provider.script.push([write('long.txt', lines), write('longer.txt', lines)], [{ text: 'Both are long.' }]);
  const { id } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  const page = await openApp(cloud);
  await goTo(page, cloud, `/chat/${id}`);
  await say(page, 'write two long files');
  await ended(page);
  await page.getByRole('region', { name: 'Conversation' }).hover();
  await page.mouse.wheel(0, -2000);
  const newest = page.getByRole('button', { name: 'Newest' });
  await newest.waitFor();
  for (const fold of await page.getByRole('button', { name: 'Details of the call' }).all())
    await fold.click();
  await newest.waitFor({ state: 'hidden' });
});
