/** Typed text decides nothing: not in the message box, not on any page, not in the fields of a prompt. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, screenshot } from './browser.ts';
import { mayApprove, place, say } from './chat.ts';
import {
  decidedEvents,
  endAll,
  openSession,
  pendingOf,
  post,
  promptOf,
  seeded,
  untilItAsks,
  type Waiting,
} from './waiting.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterEach(() => endAll(cloud));
afterAll(() => cloud.stop());

const defaultProject = '00000000-0000-4000-8000-000000000000';
const openId = (page: Page): string => /chat\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? '';

test.each(['also keep it', 'actually wait, stop'])(
  '"%s", typed after the first message, is entered in the box and decides nothing',
  async (sentence) => {
    const page = await openApp(cloud);
    await page.getByLabel('Message').click();
    await page.keyboard.type('$ touch danger.txt; echo RAN');
    await page.keyboard.press('Enter');
    await place(page, '1 of 1');
    await page.keyboard.type(sentence, { delay: 20 });
    expect(await page.getByLabel('Message').inputValue()).toBe(sentence);
    const id = openId(page);
    expect(await pendingOf(cloud, id)).toHaveLength(1);
    expect(await decidedEvents(cloud, id)).toEqual([]);
  },
);

test('text typed during the navigation to a session lands in the message box', async () => {
  const page = await openApp(cloud);
  const { promise: isMade, resolve: make } = Promise.withResolvers<void>();
  await page.route('**/api/sessions', async (route) => {
    if (route.request().method() === 'POST') await isMade;
    await route.continue();
  });
  await page.getByLabel('Message').click();
  await page.keyboard.type('$ echo one');
  await page.keyboard.press('Enter');
  await page.keyboard.type('and then ');
  const typing = page.keyboard.type('something else, with a caret', { delay: 15 });
  make();
  await typing;
  await place(page, '1 of 1');
  expect(await page.getByLabel('Message').inputValue()).toBe('and then something else, with a caret');
});

test('an unsent first message returns to the message box', async () => {
  const page = await openApp(cloud, { expects: /ERR_FAILED/ });
  await page.route('**/api/sessions', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  );
  await say(page, '$ echo one');
  await page.getByText('The server does not answer').waitFor();
  expect(await page.getByLabel('Message').inputValue()).toBe('$ echo one');
});

test('a refused message is there after a reload, with its reason, and is edited or sent again', async () => {
  const page = await openApp(cloud, { expects: /status of 409/ });
  await say(page, '$ true');
  await place(page, '1 of 1');
  let isRefused = true;
  const error = { code: 'resource_limit_exceeded', message: 'the budget of the session is spent' };
  const facts = { ...error, suggestions: ['Raise the budget.'], recoveryActions: [], requestId: 'r' };
  await page.route('**/messages', (route) =>
    route.request().method() === 'POST' && isRefused
      ? route.fulfill({ status: 409, json: { error: facts } })
      : route.continue(),
  );
  // Too long for a frame: it goes by a request.
  const long = `$ echo kept ${'and more '.repeat(4000)}`;
  await say(page, long);
  const refused = page.getByText('Not sent: the budget of the session is spent');
  await refused.waitFor();
  await page.getByLabel('Message').fill('written since');
  await page.reload();
  await refused.waitFor();
  await page.getByText('Raise the budget.').waitFor();
  // Its buttons are drawn in full after a second.
  await mayApprove(page);
  await screenshot(page, 'message-refused');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Send again' }).click();
  await refused.waitFor();
  await page.locator('[data-delivery="refused"]').getByRole('button', { name: 'Edit' }).click();
  await refused.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Message').inputValue()).toBe(`${long}\nwritten since`);
  await page.getByLabel('Message').press('Enter');
  await refused.waitFor();
  isRefused = false;
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('Queued').waitFor();
  await page.reload();
  await place(page, '1 of 1');
  expect(await refused.count()).toBe(0);
});

const keysTotal = 2000;
const typed = [
  ...' !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~',
];

/** Keys that are sent at once, in order. */
const keysAtOnce = 100;

/** A key as a keyboard sends it: key, code and text. */
const keyEvent = (key: string) => {
  const upper = key.toUpperCase();
  const code =
    key === ' ' ? 'Space' : /[A-Z]/.test(upper) ? `Key${upper}` : /\d/.test(key) ? `Digit${key}` : '';
  return { key, code, windowsVirtualKeyCode: code === '' ? 0 : upper.charCodeAt(0) };
};

const typeAtRandom = async (page: Page, keys: number, random: () => number): Promise<void> => {
  await page.evaluate(() => {
    const state = globalThis as { keysSeen?: number };
    state.keysSeen = 0;
    addEventListener('keydown', () => (state.keysSeen = (state.keysSeen ?? 0) + 1), true);
  });
  const browser = await page.context().newCDPSession(page);
  for (let sent = 0; sent < keys; sent += keysAtOnce) {
    const chosen = Array.from(
      { length: Math.min(keysAtOnce, keys - sent) },
      () => typed[Math.floor(random() * typed.length)] ?? ' ',
    );
    await Promise.all(
      chosen.flatMap((key) => [
        browser.send('Input.dispatchKeyEvent', { type: 'keyDown', text: key, ...keyEvent(key) }),
        browser.send('Input.dispatchKeyEvent', { type: 'keyUp', ...keyEvent(key) }),
      ]),
    );
  }
  await browser.detach();
  // A listener for each time: the page saw every key.
  expect(await page.evaluate(() => (globalThis as { keysSeen?: number }).keysSeen)).toBeGreaterThanOrEqual(
    keys,
  );
};

test('2,000 random letters, digits, spaces and punctuation keys, on every page with a call waiting, decide nothing', async () => {
  const waiting: Waiting[] = [];
  for (const text of ['$ echo one', '$ echo two', 'write three.txt three'])
    waiting.push(await untilItAsks(cloud, text));
  const { id: schedule } = await cloud.ask<{ readonly id: string }>(
    '/api/schedules',
    post({ name: 'never', cronExpr: '0 0 1 1 *', prompt: 'hello', targets: [{ projectId: defaultProject }] }),
  );
  const [first] = waiting;
  const paths = [
    '/chat/',
    `/chat/${first?.sessionId}`,
    `/sessions/${first?.sessionId}/sandbox`,
    '/approvals',
    `/approvals?session=${waiting[1]?.sessionId}&call=${waiting[1]?.callId}`,
    '/sessions',
    '/projects',
    '/schedules',
    `/schedules/${schedule}`,
    '/servers',
    '/models',
    '/tokens',
    '/operator',
    '/audit',
    '/webhooks',
    '/nowhere',
  ];
  const page = await openApp(cloud, { expects: /status of 4/ });
  const random = seeded(20_261_122);
  for (const path of paths) {
    await page.goto(`${cloud.url}/#${path}`);
    await page.reload();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    if (path.startsWith('/approvals') || path === `/chat/${first?.sessionId}`) await mayApprove(page);
    await typeAtRandom(page, keysTotal, random);
    for (const { sessionId, callId } of waiting) {
      expect([path, await pendingOf(cloud, sessionId)]).toMatchObject([path, [{ callId }]]);
      expect(await decidedEvents(cloud, sessionId)).toEqual([]);
    }
  }
}, 600_000);

test('letters decide nothing in the prompt itself either, nor in its fields', async () => {
  const { sessionId, callId } = await untilItAsks(cloud, '$ echo fields');
  const page = await openApp(cloud);
  await openSession(page, cloud, sessionId);
  await mayApprove(page);
  const random = seeded(7);
  await promptOf(page).focus();
  await typeAtRandom(page, 200, random);
  for (const [button, field] of [
    ['Give a reason', 'Reason for the rejection'],
    ['Edit', 'The command'],
    ['Allow by prefix', 'Commands beginning with'],
  ] as const) {
    await promptOf(page).getByRole('button', { name: button }).click();
    await promptOf(page).getByLabel(field).focus();
    await typeAtRandom(page, 200, random);
    await page.keyboard.press('Alt+a');
    await page.keyboard.press('Alt+r');
    await page.keyboard.press('Enter');
    await promptOf(page).getByRole('button', { name: 'Back' }).click();
  }
  expect(await pendingOf(cloud, sessionId)).toMatchObject([{ callId }]);
});
