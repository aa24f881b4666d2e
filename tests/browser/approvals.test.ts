/** Approvals page: counts, decisions, edits, grants, notifications and the audit log. */
import { readFile } from 'node:fs/promises';
import type { Page, WebSocketRoute } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';
import { approve, ended, mayApprove, place, say } from './chat.ts';
import { goTo, inEveryLook } from './looks.ts';
import {
  approveButton,
  asking,
  decidedEvents,
  endAll,
  openSession,
  pendingOf,
  post,
  promptOf,
  rejectButton,
  shownText,
  untilItAsks,
  type Waiting,
} from './waiting.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterEach(() => endAll(cloud));
afterAll(() => cloud.stop());

const titleIs = (page: Page, title: string): Promise<unknown> =>
  page.waitForFunction((wanted) => document.title === wanted, title);

/** The places of prompts whose call could not be rejected at first, noted as they are drawn: a busy machine looks too late. */
const guardedPlaces = async (page: Page): Promise<() => Promise<readonly string[]>> => {
  const noted = await page.evaluateHandle(() => {
    const places = new Set<string>();
    const note = (): void => {
      const prompt = document.querySelector('[aria-label="Waiting for your approval"]');
      const buttons = [...(prompt?.querySelectorAll('button') ?? [])];
      const reject = buttons.find(({ textContent }) => textContent.trim() === 'Reject');
      const place = /\d+ of \d+/.exec(prompt?.textContent ?? '')?.[0];
      if (reject?.disabled && place !== undefined) places.add(place);
    };
    new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true });
    return places;
  });
  return () => noted.evaluate((places) => [...places]);
};

/** A pending call of a child session. */
const untilAChildAsks = async (prompt: string): Promise<Waiting> => {
  const spawn = await untilItAsks(cloud, asking('session', { action: 'spawn', prompt }));
  await cloud.ask(`/api/sessions/${spawn.sessionId}/approvals/${spawn.callId}`, post({ approved: true }));
  type Listed = {
    readonly id: string;
    readonly parent?: string;
    readonly pendingApprovals: readonly Waiting[];
  };
  const { sessions } = await eventually(
    () => cloud.ask<{ readonly sessions: readonly Listed[] }>('/api/sessions?status=active'),
    (list) =>
      list.sessions.some(
        ({ parent, pendingApprovals }) => parent !== undefined && pendingApprovals.length > 0,
      ),
    30_000,
  );
  const child = sessions.find(({ parent }) => parent === spawn.sessionId);
  const [call] = child?.pendingApprovals ?? [];
  if (child === undefined || call === undefined) throw new Error('no child waits');
  return { ...call, sessionId: child.id };
};

test('title and sidebar of every page show the number of pending approvals, children included', async () => {
  const page = await openApp(cloud);
  await goTo(page, cloud, '/models');
  await titleIs(page, 'Models · Sallyport');
  const first = await untilItAsks(cloud, '$ echo one');
  await titleIs(page, '(1) Models · Sallyport');
  await untilItAsks(cloud, '$ echo two');
  await untilAChildAsks('$ echo below');
  await titleIs(page, '(3) Models · Sallyport');
  const entry = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Approvals/ });
  expect((await entry.innerText()).replaceAll(/\s+/g, ' ')).toContain('3 pending approvals');
  expect(await page.locator('link[rel="icon"]').getAttribute('href')).toContain('waiting');
  await cloud.ask(`/api/sessions/${first.sessionId}/approvals/${first.callId}`, post({ approved: false }));
  await titleIs(page, '(2) Models · Sallyport');
  await entry.click();
  await page.getByRole('heading', { name: 'Approvals' }).waitFor();
  await titleIs(page, '(2) Approvals · Sallyport');
});

test('pending calls of three sessions and a child are on one page, oldest first, and decided there', async () => {
  const calls = [
    await untilItAsks(cloud, '$ echo one'),
    await untilItAsks(cloud, '$ echo two'),
    await untilItAsks(cloud, asking('write_file', { path: 'big.txt', content: 'z'.repeat(60_000) })),
    await untilAChildAsks('$ echo below'),
  ];
  const page = await openApp(cloud);
  const guarded = await guardedPlaces(page);
  await goTo(page, cloud, '/approvals');
  const list = page.getByRole('navigation', { name: 'Pending calls' }).getByRole('listitem');
  await list.nth(3).waitFor();
  expect(await list.count()).toBe(4);
  expect(await list.nth(0).innerText()).toContain('$ echo one');
  expect(await list.nth(3).innerText()).toContain('$ echo below');
  await place(page, '1 of 4');
  expect(await shownText(page)).toBe('echo one');
  expect(await guarded()).toEqual(['1 of 4']);
  await screenshot(page, 'approvals');

  await page.keyboard.press('j');
  await place(page, '2 of 4');
  expect(await shownText(page)).toBe('echo two');
  expect(await guarded()).toEqual(['1 of 4', '2 of 4']);
  await page.keyboard.press('k');
  await place(page, '1 of 4');
  await mayApprove(page);
  await page.keyboard.press('Alt+a');
  await place(page, '1 of 3');
  expect(await shownText(page)).toBe('echo two');
  await rejectButton(page).click();
  await place(page, '1 of 2');
  // Of the list this one came shortened: all of it is loaded, and must be seen.
  expect(await shownText(page)).toBe('z'.repeat(60_000));
  expect(await approveButton(page).isDisabled()).toBe(true);
  await promptOf(page)
    .locator('.box')
    .evaluate((box) => {
      box.scrollTop = box.scrollHeight;
    });
  await approve(page);
  await place(page, '1 of 1');
  expect(await shownText(page)).toBe('echo below');
  const link = promptOf(page).getByRole('link', { name: /^Open session/ });
  expect(await link.getAttribute('href')).toContain(calls[3]?.sessionId);
  await approve(page);
  await page.getByText('No pending approvals').waitFor();
  for (const [index, approved] of [true, false, true, true].entries()) {
    const { sessionId = '', callId } = calls[index] ?? {};
    expect(await decidedEvents(cloud, sessionId)).toMatchObject([
      { callId, approved, by: { kind: 'token' } },
    ]);
  }
});

test('a call that another client decides leaves the page', async () => {
  const { sessionId, callId } = await untilItAsks(cloud, '$ echo gone');
  await untilItAsks(cloud, '$ echo stays');
  const page = await openApp(cloud);
  await goTo(page, cloud, '/approvals');
  await place(page, '1 of 2');
  await cloud.ask(`/api/sessions/${sessionId}/approvals/${callId}`, post({ approved: false }));
  await place(page, '1 of 1');
  expect(await shownText(page)).toBe('echo stays');
});

test('a decision about a changed call is refused with a message', async () => {
  const { sessionId, callId, digest } = await untilItAsks(cloud, '$ echo conflict');
  const page = await openApp(cloud, { expects: /status of 409/ });
  await openSession(page, cloud, sessionId);
  await page.route(`**/approvals/${callId}`, (route) => {
    const postData = route
      .request()
      .postData()
      ?.replace(
        digest,
        digest.replace(/^./, (first) => (first === 'f' ? '0' : 'f')),
      );
    return route.continue(postData === undefined ? {} : { postData });
  });
  await approve(page);
  await page.getByText(/^Not decided, and nothing ran: /).waitFor();
  expect(await pendingOf(cloud, sessionId)).toMatchObject([{ callId, digest }]);
});

test('the page is empty without pending approvals, and closed to a read-only token', async () => {
  const page = await openApp(cloud);
  await goTo(page, cloud, '/approvals');
  await page.getByText('No pending approvals').waitFor();
  const { token } = await cloud.ask<{ token: string }>(
    '/api/tokens',
    post({ name: 'ro', scope: 'admin:ro' }),
  );
  const reader = await openApp({ url: cloud.url, token });
  expect(await reader.getByRole('link', { name: 'Approvals' }).count()).toBe(0);
  await goTo(reader, cloud, '/approvals');
  await reader.getByText("You don't have access").waitFor();
});

test('a session says to a read-only token why there is no message box, and asks it for no approval', async () => {
  const { sessionId } = await untilItAsks(cloud, '$ echo one');
  const { token } = await cloud.ask<{ token: string }>(
    '/api/tokens',
    post({ name: 'ro', scope: 'admin:ro' }),
  );
  const reader = await openApp({ url: cloud.url, token });
  await goTo(reader, cloud, `/chat/${sessionId}`);
  await reader.getByLabel('Waiting for approval').waitFor();
  await reader.getByText("Your token's scope (admin:ro) does not allow this").first().waitFor();
  expect(await reader.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
  expect(await reader.getByText(/your approval/).count()).toBe(0);
  expect(await axe(reader)).toEqual([]);
});

test('axe finds no violation', async () => {
  await untilItAsks(cloud, '$ echo one && ls -la');
  await untilItAsks(cloud, asking('write_file', { path: 'a.txt', content: 'a\tb\u200Bc\n'.repeat(100) }));
  await inEveryLook(cloud, 'approvals', async (page) => {
    await goTo(page, cloud, '/approvals');
    await place(page, '1 of 2');
    await mayApprove(page);
  });
});

test('a rejection has a reason, and the card shows decider, decision and reason', async () => {
  const page = await openApp(cloud);
  await say(page, '$ rm -rf build');
  await promptOf(page).getByRole('button', { name: 'Give a reason' }).click();
  await promptOf(page).getByLabel('Reason for the rejection').fill('x'.repeat(2001));
  await page.getByText('At most 2000 characters').waitFor();
  expect(await rejectButton(page).isDisabled()).toBe(true);
  await promptOf(page).getByLabel('Reason for the rejection').fill('build is needed');
  expect(await axe(page)).toEqual([]);
  await rejectButton(page).click();
  await ended(page);
  const call = page.getByLabel('Tool call: Run a command');
  await call.getByText('rejected', { exact: true }).waitFor();
  await call.getByText('Reason: build is needed').waitFor();
  await call.getByText(/^Rejected by .*token/).waitFor();
  await call.locator('.decision time').waitFor();
});

test('a call is edited before approval: the page shows the diff, and the edited call runs', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo before');
  await promptOf(page).getByRole('button', { name: 'Edit' }).click();
  const changed = page.getByRole('button', { name: 'Approve the changed call' });
  expect(await changed.isDisabled()).toBe(true);
  await promptOf(page).getByLabel('The command').fill('echo after');
  const diff = promptOf(page).locator('.diff');
  await diff.waitFor();
  expect(await diff.innerText()).toMatch(/-\s*echo before\s+\+\s*echo after/);
  await page.locator('button:enabled', { hasText: 'Approve the changed call' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'approval-edit');
  await changed.click();
  await ended(page);
  const call = page.getByLabel('Tool call: Run a command');
  await call.getByText(/^Edited and approved by /).waitFor();
  await call.locator('.terminal').getByText('after').waitFor();
  expect(await call.locator('.terminal').innerText()).not.toContain('before');
  expect(await call.locator('.diff').innerText()).toMatch(/echo before[\s\S]*echo after/);
});

test('arguments without a form are edited as JSON', async () => {
  const page = await openApp(cloud);
  await say(page, asking('execute_command', { command: 'echo', args: ['one', 'two'] }));
  await promptOf(page).getByRole('button', { name: 'Edit' }).click();
  const field = promptOf(page).getByLabel('The arguments, as JSON');
  await field.fill('{"command": "echo", "args": ["one"');
  await promptOf(page)
    .getByText(/^This is not JSON/)
    .first()
    .waitFor();
  await field.fill('{"command": "echo", "args": ["three"]}');
  await page.getByRole('button', { name: 'Approve the changed call' }).click();
  await ended(page);
  await page.locator('.terminal').getByText('three').waitFor();
});

test('commands with a prefix are allowed, listed with grantor and time, and need approval again after the withdrawal', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo one two');
  await promptOf(page).getByRole('button', { name: 'Allow by prefix' }).click();
  const field = promptOf(page).getByLabel('Commands beginning with');
  expect(await field.inputValue()).toBe('echo one');
  await field.fill('ls');
  await page.getByText('These words would not allow this command').waitFor();
  await field.fill('echo one');
  await page.getByRole('button', { name: 'Approve and allow these' }).click();
  await ended(page);
  await say(page, '$ echo one three');
  await ended(page, 2);
  await page
    .getByLabel('Tool call')
    .nth(1)
    .getByText(/^Approved by the grant /)
    .waitFor();
  await say(page, '$ echo one; echo more');
  await place(page, '1 of 1');
  await rejectButton(page).click();
  await ended(page, 3);

  await page.getByRole('button', { name: '1 always allowed' }).click();
  const dialog = page.getByRole('dialog', { name: 'Always allowed in this session' });
  await dialog.getByText('Commands beginning with echo one').waitFor();
  await dialog.getByText(/^Allowed by .*token/).waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'grants');
  await dialog.getByRole('button', { name: 'Withdraw' }).click();
  await dialog.getByText('None.', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await say(page, '$ echo one four');
  await place(page, '1 of 1');
});

test('a grant of a tool names its scope, and later calls run', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo one');
  await promptOf(page)
    .getByText('every later execute_command call of this session runs without asking')
    .waitFor();
  await page.getByRole('button', { name: 'Always for this session' }).click();
  await ended(page);
  await say(page, '$ echo two');
  await ended(page, 2);
  await page.getByRole('button', { name: '1 always allowed' }).click();
  await page.getByRole('dialog').getByText('Every later execute_command call').waitFor();
  await page.keyboard.press('Escape');

  await page.setViewportSize(phone);
  const more = await page.getByRole('button', { name: 'More actions' }).boundingBox();
  expect((more?.x ?? Number.NaN) + (more?.width ?? 0)).toBeLessThanOrEqual(phone.width);
});

test('the focus returns from a panel to the button that opened it, and Escape throws no text away', async () => {
  const page = await openApp(cloud);
  await say(page, '$ echo one');
  for (const name of ['Allow by prefix', 'Edit', 'Give a reason']) {
    const opener = promptOf(page).getByRole('button', { name, exact: true });
    await opener.click();
    await promptOf(page).getByRole('button', { name: 'Back' }).click();
    await promptOf(page).locator('button:focus', { hasText: name }).waitFor();
    await page.keyboard.press('Enter');
    await promptOf(page).getByRole('textbox').press('Escape');
    await promptOf(page).locator('button:focus', { hasText: name }).waitFor();
  }
  await page.keyboard.press('Enter');
  await promptOf(page).getByRole('textbox').fill('not now');
  await page.keyboard.press('Escape');
  expect(await promptOf(page).getByRole('textbox').inputValue()).toBe('not now');
});

test('the browser notifies of each new pending call, without its arguments', async () => {
  const page = await openApp(cloud);
  await page.context().grantPermissions(['notifications']);
  await page.addInitScript(() => {
    const told: object[] = [];
    class Told extends EventTarget {
      static get permission() {
        return (sessionStorage.getItem('permission') ?? 'default') as NotificationPermission;
      }
      static async requestPermission() {
        sessionStorage.setItem('permission', 'granted');
        return 'granted' as const;
      }
      constructor(title: string, options: object) {
        super();
        told.push({ title, ...options });
        Object.assign(globalThis, { lastTold: this });
      }
      close() {}
    }
    Object.assign(globalThis, { Notification: Told, told });
  });
  await page.goto(`${cloud.url}/#/approvals`);
  await page.reload();
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.locator('.page-head').getByText('Notifications are on').waitFor();
  await goTo(page, cloud, '/models');
  await page.reload();
  await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
  });
  const told = () => page.evaluate(() => (globalThis as unknown as { told: object[] }).told);
  const first = await untilItAsks(cloud, '$ echo secret-argument');
  const second = await untilItAsks(cloud, '$ echo another-secret');
  await eventually(told, (all) => all.length === 2);
  expect(await told()).toMatchObject(
    [first, second].map(({ sessionId }) => ({
      title: 'Needs your approval',
      body: `execute_command in session ${sessionId.slice(0, 8)}`,
    })),
  );
  expect(JSON.stringify(await told())).not.toContain('secret');
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'visible' });
    (globalThis as unknown as { lastTold: EventTarget }).lastTold.dispatchEvent(new Event('click'));
  });
  await place(page, '2 of 2');
  expect(await shownText(page)).toBe('echo another-secret');
});

test('a browser in which no page can notify is named as one', async () => {
  const page = await openApp(cloud);
  await page.addInitScript(() => {
    class Refused {
      static permission = 'default';
      constructor() {
        throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.');
      }
    }
    Object.assign(globalThis, { Notification: Refused });
  });
  await page.goto(`${cloud.url}/#/approvals`);
  await page.reload();
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.locator('.page-head').getByText('Notifications are not supported in this browser.').waitFor();
  expect(await axe(page)).toEqual([]);
});

test('the audit log shows decisions, to tokens with permission', async () => {
  const { sessionId, callId } = await untilItAsks(cloud, '$ echo audited');
  const { token } = await cloud.ask<{ token: string }>(
    '/api/tokens',
    post({ name: 'night shift', scope: 'admin' }),
  );
  const page = await openApp({ url: cloud.url, token });
  await openSession(page, cloud, sessionId);
  await approve(page);
  await ended(page);
  expect(await decidedEvents(cloud, sessionId)).toMatchObject([{ callId, by: { name: 'night shift' } }]);
  await page.getByRole('link', { name: 'Audit log' }).click();
  const row = page.getByRole('row', { name: /Approved execute_command/ }).first();
  await row.getByText('night shift').waitFor();
  await row.getByText(/^token [0-9a-f]{8}$/).waitFor();
  await row.getByText(sessionId.slice(0, 8)).first().waitFor();
  await page
    .getByRole('row', { name: /Token created/ })
    .first()
    .waitFor();
  const shop = await cloud.ask<{ id: string }>('/api/projects', post({ name: 'shop' }));
  await cloud.ask(`/api/projects/${shop.id}/secrets/PAYMENT_KEY`, { method: 'PUT', body: '{"value":"v"}' });
  await cloud.ask('/api/webhooks', post({ url: 'https://hooks.example.com/a', events: ['turn_failed'] }));
  await inEveryLook(cloud, 'audit', async (own) => {
    await goTo(own, cloud, '/audit');
    await own
      .getByRole('row', { name: /Approved execute_command/ })
      .first()
      .waitFor();
    const names = own.locator('td dt');
    const heights = await names.evaluateAll((all) => all.map(({ clientHeight }) => clientHeight));
    expect(heights.every((height) => height < 24)).toBe(true);
  });
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export with seals' }).click();
  const exported = await readFile(await (await saved).path(), 'utf8');
  const lines = exported
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string; readonly action?: string });
  expect(lines.some(({ action }) => action === 'approval.decide')).toBe(true);
  expect(lines.at(-1)?.type).toBe('end');
  const { id } = await cloud.ask<{ id: string }>('/api/projects', post({ name: 'one' }));
  const bound = await cloud.ask<{ token: string }>(
    '/api/tokens',
    post({ name: 'p', scope: `project:${id}` }),
  );
  const other = await openApp({ url: cloud.url, token: bound.token });
  expect(await other.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
});

test("the operator's card of pending approvals leads to the approvals page", async () => {
  await makeSession(cloud, {});
  await untilItAsks(cloud, '$ echo one');
  const page = await openApp(cloud);
  await goTo(page, cloud, '/operator');
  await page.getByRole('link', { name: 'Review all' }).click();
  await place(page, '1 of 1');
});

/** The frames of a page's connections, from the first that has this text on, wait until they are let go. */
const holdingFrames = async (page: Page, text: string): Promise<() => void> => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.routeWebSocket(/./, (socket) => {
    let sent = Promise.resolve();
    socket.connectToServer().onMessage((message) => {
      const isHeld = message.includes(text);
      sent = sent.then(() => (isHeld ? released : undefined)).then(() => socket.send(message));
    });
  });
  return release;
};

test('the list comes although calls are asked and decided all the time', async () => {
  await untilItAsks(cloud, '$ echo one');
  const page = await openApp(cloud);
  let timer: ReturnType<typeof setInterval> | undefined;
  await page.routeWebSocket(/approvals=1/, (socket) => {
    socket.connectToServer().onMessage((message) => {
      socket.send(message);
      timer ??= setInterval(() => socket.send(message), 50);
    });
  });
  // Answered later than the next change is told.
  await page.route(/\/api\/approvals$/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await route.continue().catch(() => undefined);
  });
  await page.goto(`${cloud.url}/#/approvals`);
  await page.reload();
  await promptOf(page).waitFor();
  clearInterval(timer);
});

test('a call that was decided is not asked about again while its conversation is replayed', async () => {
  const call = await untilItAsks(cloud, '$ echo one');
  await cloud.ask(`/api/sessions/${call.sessionId}/approvals/${call.callId}`, post({ approved: true }));
  await eventually(
    () => cloud.ask<{ readonly status: string }>(`/api/sessions/${call.sessionId}`),
    ({ status }) => status === 'idle',
    30_000,
  );
  const page = await openApp(cloud);
  const release = await holdingFrames(page, 'tool:decided');
  await openSession(page, cloud, call.sessionId);
  await page.locator('[data-kind="question"]').waitFor();
  expect(await promptOf(page).count()).toBe(0);
  release();
  await ended(page);
  expect(await promptOf(page).count()).toBe(0);
});

test('a half-written edit outlives a lost connection, and decides nothing before the replay has ended', async () => {
  const { sessionId } = await untilItAsks(cloud, '$ echo one');
  const page = await openApp(cloud);
  const { promise: replayed, resolve: replay } = Promise.withResolvers<void>();
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/sessionId=/, (socket) => {
    sockets.push(socket);
    let sent = Promise.resolve();
    socket.connectToServer().onMessage((message) => {
      const isHeld = message.includes('budget_changed');
      sent = sent.then(() => (isHeld ? replayed : undefined)).then(() => socket.send(message));
    });
  });
  await page.route(/\/events\?/, async (route) => {
    await replayed;
    await route.continue();
  });
  await openSession(page, cloud, sessionId);
  await promptOf(page).getByRole('button', { name: 'Edit' }).click();
  const command = promptOf(page).getByLabel('The command');
  await command.fill('echo two');
  await page.locator('button:enabled', { hasText: 'Approve the changed call' }).waitFor();

  await cloud.ask(`/api/sessions/${sessionId}`, { method: 'PATCH', body: JSON.stringify({ maxCostUsd: 7 }) });
  await sockets[0]?.close();
  await page.locator('button[aria-disabled="true"]', { hasText: 'Approve the changed call' }).waitFor();
  expect(await command.inputValue()).toBe('echo two');
  replay();
  await page.getByText('Budget changed to').first().waitFor();
  expect(await command.inputValue()).toBe('echo two');
  expect(await command.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.getByRole('button', { name: 'Approve the changed call' }).click();
  await ended(page);
  expect(await decidedEvents(cloud, sessionId)).toMatchObject([
    { approved: true, editedArgs: { command: 'echo two' } },
  ]);
});
