/**
 * The call that a person reads, that the digest covers and that runs is one and the same, byte for byte, at any length and
 * with any content; and nothing is approved before it was shown.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#shared/domain/json.ts';
import { type Loopback, modernServer, said } from '../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp } from './browser.ts';
import { ended, mayApprove } from './chat.ts';
import {
  approveButton,
  asking,
  decidedEvents,
  digestOf,
  drawnMarks,
  endAll,
  openSession,
  pendingOf,
  post,
  promptOf,
  rejectButton,
  shownDigest,
  shownText,
  untilItAsks,
} from './waiting.ts';

let cloud: EmbeddedCloud;
let recorder: Loopback;
/** The arguments that a tool of a registered server was called with. */
const received: unknown[] = [];
beforeAll(async () => {
  recorder = await modernServer({
    list: [{ name: 'record', inputSchema: { type: 'object' } }],
    run: ({ arguments: args }) => {
      received.push(args);
      return said('recorded');
    },
  });
  cloud = await openEmbeddedCloud({ variables: { MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } });
  await cloud.ask(
    '/api/mcp/add',
    post({ name: 'recorder', config: { transport: 'http', url: recorder.url } }),
  );
});
afterEach(() => endAll(cloud));
afterAll(async () => {
  await cloud.stop();
  await recorder.stop();
});

const toEnd = (page: Page): Promise<void> =>
  promptOf(page)
    .locator('.box')
    .evaluate((box) => {
      box.scrollTop = box.scrollHeight;
    });

/** Blanks that are drawn as no space, and as nothing: 64 kinds. */
const blanks = [
  0x00a0, 0x00ad, 0x034f, 0x061c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180e,
  0x180f, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x200b,
  0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x202f, 0x205f,
  0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2065, 0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0x206f, 0x2800,
  0x3000, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfffc, 0x1d159, 0x1d173, 0xe0001, 0xe0020, 0xe0100,
].map((number) => String.fromCodePoint(number));

const line = (index: number): string => `line ${index}: the quick brown fox jumps over the lazy dog\n`;
const lines = (bytes: number): string => {
  const many = Array.from({ length: Math.ceil(bytes / line(1).length) }, (_, index) => line(index)).join('');
  return many.slice(0, bytes);
};

test.each([
  ['1 KB', lines(1024)],
  ['40 KB', lines(40 * 1024)],
  ['1 MB in one line', 'x'.repeat(1_000_000)],
  ['1 MB of lines', lines(1_000_000)],
  ['right-to-left marks', 'cp \u202Egpj.exe\u202C \u2067a\u2069 \u200Fb שלום \u061C c\n'],
  ['60 kinds of blanks', `${blanks.map((blank, index) => `${index}[${blank}]`).join('\n')}\n\t tab`],
  ['what looks like a mark', '⟦U+200B⟧ is no \u200B'],
  ['line ends of all kinds', 'a\r\nb\rc\n\n\nd\u0085e\u000Bf\u000Cg'],
])('a file of %s: read, covered and written are the same', async (_, content) => {
  const args = { path: 'whole.txt', content };
  const call = await untilItAsks(cloud, asking('write_file', args));
  expect(call.args).toEqual(args);
  const page = await openApp(cloud);
  await openSession(page, cloud, call.sessionId);
  expect(await shownText(page)).toBe(content);
  expect(await promptOf(page).getByRole('heading').innerText()).toBe('Write whole.txt');
  expect(await shownDigest(page)).toBe(digestOf(call));
  await toEnd(page);
  await mayApprove(page);
  await approveButton(page).click();
  await ended(page);
  const written = await cloud.request(`/api/sessions/${call.sessionId}/files/whole.txt`);
  expect(await written.text()).toBe(content);
  expect(await decidedEvents(cloud, call.sessionId)).toMatchObject([
    { callId: call.callId, approved: true, digest: digestOf(call) },
  ]);
});

test('every blank other than a space is shown as a mark', async () => {
  const { sessionId } = await untilItAsks(
    cloud,
    asking('execute_command', { command: `echo ${blanks.join(' ')}` }),
  );
  const page = await openApp(cloud);
  await openSession(page, cloud, sessionId);
  await shownText(page);
  const numbers = blanks.map((blank) =>
    (blank.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0'),
  );
  expect(await drawnMarks(page)).toEqual(numbers.map((number) => `⟦U+${number}⟧`));
});

test('9,000 short strings: read, covered and run are the same', async () => {
  // Of an earlier try, if there was one.
  received.length = 0;
  const args: JsonObject = { words: Array.from({ length: 9000 }, (_, index) => `w${index}`) };
  const call = await untilItAsks(cloud, asking('record', args));
  const page = await openApp(cloud);
  await openSession(page, cloud, call.sessionId);
  expect(JSON.parse(await shownText(page))).toEqual(args);
  expect(await shownDigest(page)).toBe(digestOf(call));
  expect(await approveButton(page).isDisabled()).toBe(true);
  await toEnd(page);
  await mayApprove(page);
  await approveButton(page).click();
  await ended(page);
  expect(received).toEqual([args]);
  expect(await decidedEvents(cloud, call.sessionId)).toMatchObject([
    { approved: true, digest: digestOf(call) },
  ]);
});

/** Times in page milliseconds: a button's appearance, and its first enabled moment. */
type Seen = Readonly<Record<string, { readonly at: number; readonly enabledAt: number | null }>>;

/** The page's own record of its state over time, since a look from the test comes late. */
const watchButtons = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const seen: Record<string, { at: number; enabledAt: number | null }> = {};
    Object.assign(globalThis, { seen });
    const look = (): void => {
      const prompt = document.querySelector('[aria-label="Waiting for your approval"]');
      for (const button of prompt?.querySelectorAll('button') ?? []) {
        const name = `${prompt?.querySelector('h2')?.textContent}: ${button.textContent?.trim()}`;
        seen[name] ??= { at: performance.now(), enabledAt: null };
        if (!button.disabled) seen[name].enabledAt ??= performance.now();
      }
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  });
const seenButtons = (page: Page): Promise<Seen> =>
  page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen);

/** The second begins with the drawing, and the look at it comes a little later. */
const secondMs = 900;

test('a call cannot be decided in the first second, and a long one not before its end was visible', async () => {
  const { sessionId } = await untilItAsks(
    cloud,
    asking('write_file', { path: 'long.txt', content: lines(20_000) }),
  );
  const page = await openApp(cloud);
  await watchButtons(page);
  await openSession(page, cloud, sessionId);
  await page.reload();
  await shownText(page);
  await eventually(
    () => rejectButton(page).isEnabled(),
    (isEnabled) => isEnabled,
  );
  const before = await seenButtons(page);
  const of = (name: string) => before[`Write long.txt: ${name}`];
  expect((of('Reject')?.enabledAt ?? 0) - (of('Reject')?.at ?? 0)).toBeGreaterThan(secondMs);
  expect([of('Approve')?.enabledAt, of('Always for this session')?.enabledAt]).toEqual([null, null]);
  expect(await approveButton(page).isDisabled()).toBe(true);
  expect(await promptOf(page).innerText()).toContain(
    'To approve, scroll to the end of the call or show it in full.',
  );
  const why = await approveButton(page).evaluate((button) =>
    (button.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent)
      .join(),
  );
  expect(why).toContain('scroll to the end');
  await toEnd(page);
  await mayApprove(page);
});

test('a short call and the next one cannot be decided in the first second', async () => {
  const { sessionId } = await untilItAsks(cloud, '$ echo one\nread two.txt');
  const page = await openApp(cloud);
  await watchButtons(page);
  await openSession(page, cloud, sessionId);
  await page.reload();
  for (const title of ['Run a command', 'Read two.txt']) {
    await promptOf(page).getByRole('heading', { name: title }).waitFor();
    await mayApprove(page);
    const seen = await seenButtons(page);
    for (const name of ['Approve', 'Reject', 'Always for this session']) {
      const { at = 0, enabledAt } = seen[`${title}: ${name}`] ?? {};
      expect((enabledAt ?? 0) - at).toBeGreaterThan(secondMs);
    }
    await approveButton(page).click();
  }
  await ended(page);
});

test('a long call that was opened in full can be approved', async () => {
  const content = lines(60_000);
  const { sessionId } = await untilItAsks(cloud, asking('write_file', { path: 'long.txt', content }));
  const page = await openApp(cloud);
  await openSession(page, cloud, sessionId);
  await shownText(page);
  expect(await approveButton(page).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Show in full' }).click();
  const dialog = page.getByRole('dialog', { name: 'Write long.txt' });
  await dialog.locator('.call-view[data-written]').waitFor();
  expect(await dialog.locator('.whole-text').evaluate((pre) => pre.textContent)).toBe(content);
  await mayApprove(page);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await mayApprove(page);
});

test('a call that failed to load cannot be approved before it has loaded', async () => {
  const { sessionId, callId } = await untilItAsks(
    cloud,
    asking('write_file', { path: 'l.txt', content: lines(60_000) }),
  );
  const page = await openApp(cloud, { expects: /ERR_FAILED/ });
  await page.route(`**/api/sessions/${sessionId}/approvals/${callId}`, (route) => route.abort(), {
    times: 1,
  });
  await openSession(page, cloud, sessionId);
  await promptOf(page).getByText('The server does not answer').waitFor();
  await eventually(
    () => rejectButton(page).isEnabled(),
    (isEnabled) => isEnabled,
  );
  expect(await approveButton(page).isDisabled()).toBe(true);
  await promptOf(page).getByRole('button', { name: 'Retry' }).click();
  await shownText(page);
  await toEnd(page);
  await mayApprove(page);
});

test('a call that differs from the one on the server cannot be approved', async () => {
  const { sessionId, callId } = await untilItAsks(
    cloud,
    asking('write_file', { path: 'l.txt', content: lines(60_000) }),
  );
  const page = await openApp(cloud);
  await page.route(`**/api/sessions/${sessionId}/approvals/${callId}`, async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, args: { path: 'l.txt', content: 'harmless' } } });
  });
  await openSession(page, cloud, sessionId);
  await promptOf(page).getByText('This call differs from the one that waits on the server').waitFor();
  await eventually(
    () => rejectButton(page).isEnabled(),
    (isEnabled) => isEnabled,
  );
  expect(await approveButton(page).isDisabled()).toBe(true);
  await page.keyboard.press('Alt+a');
  expect(await pendingOf(cloud, sessionId)).toHaveLength(1);
  // The page may be asking once more.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

/** A block takes up to 4,000 characters, which the browser lays out alone. */
const blocksMin = 250;

test('a line of a megabyte is drawn whole, in blocks that the browser lays out when they come into view', async () => {
  const content = 'y'.repeat(1_000_000);
  const call = {
    sessionId: crypto.randomUUID(),
    turnId: 't',
    callId: 'c',
    name: 'write_file',
    args: { path: 'l.txt', content },
    digest: '',
  };
  const row = {
    ...call,
    args: { path: 'l.txt', content: 'y' },
    argsTruncated: true,
    digest: digestOf(call),
    title: 'long',
    project: crypto.randomUUID(),
    askedAt: new Date().toISOString(),
    queuePosition: 1,
    totalInQueue: 1,
  };
  const page = await openApp(cloud, { expects: /status of 404/ });
  await page.route('**/api/approvals*', (route) => route.fulfill({ json: { approvals: [row] } }));
  await page.route('**/approvals/c', (route) => route.fulfill({ json: { ...row, args: call.args } }));
  await page.evaluate(() => {
    location.hash = '/approvals';
  });
  expect(await shownText(page)).toBe(content);
  expect(await shownDigest(page)).toBe(row.digest);
  expect(await approveButton(page).isDisabled()).toBe(true);
  await toEnd(page);
  await mayApprove(page);
  const laidOut = await promptOf(page)
    .locator('.whole-text-block')
    .evaluateAll((blocks) => blocks.map((block) => getComputedStyle(block).contentVisibility));
  expect(laidOut.length).toBeGreaterThanOrEqual(blocksMin);
  expect(laidOut.slice(1, -1).filter((visibility) => visibility !== 'auto')).toEqual([]);
});
