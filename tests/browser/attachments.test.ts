/** Files of a message: chosen, dropped and pasted; thumbnails, problems, and what the session gets of them. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';
import { ended, say } from './chat.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

/** One red pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const image = { name: 'red.png', mimeType: 'image/png', buffer: png };
const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') };

const pick = (page: Page, files: readonly (typeof image)[]): Promise<void> =>
  page.locator('input[type="file"]').setInputFiles([...files]);

/** An event with a file, as the browser makes it for a drop or a paste. */
const hand = (page: Page, kind: 'drop' | 'paste', name: string): Promise<void> =>
  page.getByLabel('Message').evaluate(
    (area, given) => {
      const data = new DataTransfer();
      data.items.add(new File(['content'], given.name, { type: 'text/plain' }));
      const options = { bubbles: true, cancelable: true };
      area.dispatchEvent(
        given.kind === 'drop'
          ? new DragEvent('drop', { ...options, dataTransfer: data })
          : new ClipboardEvent('paste', { ...options, clipboardData: data }),
      );
    },
    { kind, name },
  );

type Events = {
  readonly events: readonly {
    readonly type: string;
    readonly data: { readonly role?: string; readonly attachments?: readonly { readonly path: string }[] };
  }[];
};
const attachedIn = async (page: Page): Promise<readonly string[]> => {
  const id = page.url().split('/').at(-1);
  const { events } = await cloud.ask<Events>(`/api/sessions/${id}/events`);
  return events.flatMap(({ data }) => data.attachments ?? []).map(({ path }) => path);
};

test('files chosen before the first message go with it', async () => {
  const page = await openApp(cloud);
  await page.getByLabel('Message').waitFor();
  await pick(page, [image, notes]);
  const chosen = page.getByRole('list', { name: 'Attached files' });
  await chosen.locator('img').waitFor();
  await page.getByText('Write a message: the files are sent with it.').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'attachments-new');
  await say(page, 'look at these');
  await ended(page);
  const shown = page.locator('[data-kind="question"]').getByRole('list', { name: 'Attached files' });
  await shown
    .getByRole('img', { name: 'red.png' })
    .or(shown.getByRole('button', { name: 'Show red.png' }))
    .waitFor();
  await shown.getByText('notes.txt').waitFor();
  expect(await attachedIn(page)).toEqual([
    expect.stringMatching(/^attachments\/[0-9a-f]{8}-red\.png$/),
    expect.stringMatching(/^attachments\/[0-9a-f]{8}-notes\.txt$/),
  ]);
  const [, path = ''] = await attachedIn(page);
  await shown.getByRole('button', { name: `Open ${path}` }).click();
  const panel = page.getByRole('complementary', { name: 'Workspace' });
  await panel.getByText(path, { exact: true }).waitFor();
});

test('files are dropped and pasted into an open session, and can be removed', async () => {
  const page = await openApp(cloud, { viewport: phone, colorScheme: 'dark' });
  await say(page, 'hello');
  await ended(page);
  await hand(page, 'drop', 'dropped.txt');
  await hand(page, 'paste', 'pasted.txt');
  await hand(page, 'paste', 'not this one.txt');
  await page.getByRole('button', { name: 'Remove not this one.txt' }).click();
  const chosen = page.getByRole('list', { name: 'Attached files' });
  await chosen.getByText('dropped.txt').waitFor();
  await chosen.getByText('pasted.txt').waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'attachments-phone');
  await chosen.getByRole('progressbar').first().waitFor({ state: 'detached' });
  await say(page, 'and these');
  await ended(page, 2);
  expect(await attachedIn(page)).toEqual([
    expect.stringMatching(/-dropped\.txt$/),
    expect.stringMatching(/-pasted\.txt$/),
  ]);
});

test('files of an open session stay while another page is shown, and go with its next message', async () => {
  const page = await openApp(cloud);
  await say(page, 'hello');
  await ended(page);
  await pick(page, [notes]);
  const chosen = page.getByRole('list', { name: 'Attached files' });
  await chosen.getByText('notes.txt').waitFor();
  await page.getByLabel('Message').fill('take it');
  const main = page.getByRole('navigation', { name: 'Main' });
  await main.getByRole('link', { name: 'Models' }).click();
  await chosen.waitFor({ state: 'detached' });
  await page.goBack();
  await chosen.getByText('notes.txt').waitFor();
  await page.getByLabel('Message').press('Enter');
  await ended(page, 2);
  expect(await attachedIn(page)).toEqual([expect.stringMatching(/-notes\.txt$/)]);
});

test('a failed upload keeps the message back and is repeated; a refused file holds it until it is removed', async () => {
  const page = await openApp(cloud, { expects: /ERR_FAILED/ });
  await say(page, 'hello');
  await ended(page);
  await page.route(/\/files\//, (route) => route.abort(), { times: 1 });
  await pick(page, [notes]);
  const again = page.getByRole('button', { name: 'Upload notes.txt again' });
  await again.waitFor();
  await screenshot(page, 'attachments-failed');
  await pick(page, [{ ...image, name: 'huge.png', buffer: Buffer.alloc(3_600_000) }]);
  await page.getByText(/^An image for the model has at most/).waitFor();
  await again.click();
  await again.waitFor({ state: 'detached' });
  await page.getByRole('progressbar').first().waitFor({ state: 'detached' });
  await say(page, 'take it');
  await page.getByText('Remove huge.png first: it cannot be sent.').waitFor();
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  expect(await page.getByLabel('Message').inputValue()).toBe('take it');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Remove huge.png' }).click();
  await page.getByLabel('Message').press('Enter');
  await ended(page, 2);
  expect(await attachedIn(page)).toEqual([expect.stringMatching(/-notes\.txt$/)]);
});

/** Uploads that wait, until they are let through. */
const holdUploads = async (page: Page): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/files\//, async (route) => {
    await promise;
    // One that was cancelled is over.
    await route.continue().catch(() => undefined);
  });
  return resolve;
};

test('a first message waits for its files, and to remove one calls it off', async () => {
  const page = await openApp(cloud);
  const release = await holdUploads(page);
  await page.getByLabel('Message').waitFor();
  await pick(page, [image, notes]);
  await say(page, 'look at these');
  await page.getByText('Sent when the files are uploaded. To cancel it, remove a file.').waitFor();
  await page.getByRole('progressbar').first().waitFor();
  expect(await page.getByLabel('Message').inputValue()).toBe('');
  // A text that is typed now is for another message.
  expect(await page.getByText('the files are sent with it').count()).toBe(0);
  await page.getByRole('button', { name: 'Remove notes.txt' }).click();
  await page.getByText('Not sent, since not every file was uploaded.').waitFor();
  expect(await page.getByLabel('Message').inputValue()).toBe('look at these');
  await page.getByLabel('Message').press('Enter');
  release();
  await ended(page);
  expect(await attachedIn(page)).toEqual([expect.stringMatching(/-red\.png$/)]);
  expect(await page.locator('[data-kind="question"]').count()).toBe(1);
});

test('a message that is sent during an upload says that it waits, and is sent after it; an edit calls it off', async () => {
  const page = await openApp(cloud);
  await say(page, 'hello');
  await ended(page);
  const release = await holdUploads(page);
  await pick(page, [notes]);
  await page.getByRole('progressbar').waitFor();
  await say(page, 'take it');
  const waits = page.getByText('Sent when the files are uploaded.');
  await waits.waitFor();
  await page.getByLabel('Message').fill('take them');
  await waits.waitFor({ state: 'detached' });
  await page.getByLabel('Message').press('Enter');
  await waits.waitFor();
  expect(await axe(page)).toEqual([]);
  release();
  await ended(page, 2);
  expect(await attachedIn(page)).toEqual([expect.stringMatching(/-notes\.txt$/)]);
  expect(await page.getByLabel('Message').inputValue()).toBe('');
  expect(await page.locator('[data-kind="question"]').allInnerTexts()).toEqual([
    expect.stringContaining('hello'),
    expect.stringContaining('take them'),
  ]);
});
