/** Sandbox page: start, files, log, preview ports and stop. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession, openAgent, sandboxRecord, showSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { killServer } from '../e2e/sandbox-processes.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';
import { goTo, inEveryLook, tabTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const open = async (): Promise<string> => {
  const { id } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  onTestFinished(async () => void (await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' })));
  return id;
};
const put = (id: string, path: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
  cloud.request(`/api/sessions/${id}/files/${path}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/octet-stream' },
  });
const read = async (id: string, path: string): Promise<string> =>
  (await cloud.request(`/api/sessions/${id}/files/${path}`)).text();
const visit = (page: Page, id: string): Promise<void> => goTo(page, cloud, `/sessions/${id}/sandbox`);
/** The name of the control that has the focus. */
const focused = (page: Page): Promise<string | null> =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null);
const item = (page: Page, name: string) => page.getByRole('treeitem', { name });

test('a sandbox starts on demand; then a file is created, edited, saved and read back', async () => {
  const id = await open();
  const page = await openApp(cloud);
  await visit(page, id);
  await page.getByText('The sandbox is not running').waitFor();
  await page.getByRole('button', { name: 'Start sandbox' }).click();
  await page.getByText('The workspace is empty').waitFor({ timeout: 60_000 });
  await page.getByRole('list', { name: 'Sandbox lifecycle' }).getByText('cold start').waitFor();

  await page.getByRole('button', { name: 'New file' }).click();
  await page.getByLabel('Path').fill('src/main.py');
  await page.getByRole('button', { name: 'Create file' }).click();
  const editor = page.getByRole('textbox', { name: 'Text of src/main.py' });
  await editor.fill('print("grüße")\n');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved src/main.py').waitFor();
  expect(await read(id, 'src/main.py')).toBe('print("grüße")\n');
  await page.locator('.code-block').getByText('print').waitFor();
});

test('a folder is made, renamed, downloaded and deleted, and a file is renamed', async () => {
  const id = await open();
  await put(id, 'old/inner/a.txt', 'one');
  const page = await openApp(cloud);
  await visit(page, id);
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Path').fill('made/deep');
  await page.getByRole('button', { name: 'Create folder' }).click();
  await item(page, 'deep').waitFor();
  await item(page, 'old').click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download folder' }).click();
  expect((await download).suggestedFilename()).toBe('old.tar.gz');
  await page.getByRole('button', { name: 'Rename folder' }).click();
  await page.getByLabel('Path').fill('made/new');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await item(page, 'new').waitFor();
  expect(await read(id, 'made/new/inner/a.txt')).toBe('one');
  await page.getByRole('button', { name: 'Delete folder' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await item(page, 'new').waitFor({ state: 'detached' });

  await put(id, 'b.txt', 'two');
  await page.getByRole('button', { name: 'Refresh' }).click();
  await item(page, 'b.txt').click();
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByLabel('Path').fill('made/c.txt');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await item(page, 'c.txt').waitFor();
  expect(await read(id, 'made/c.txt')).toBe('two');
});

test('a concurrent change is overwritten only after confirmation', async () => {
  const id = await open();
  await put(id, 'notes.txt', 'one\r\ntwo\r\n');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'notes.txt').click();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Text of notes.txt' }).fill('mine\nstays\n');
  await put(id, 'notes.txt', 'theirs, and longer\n');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The file has changed').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await read(id, 'notes.txt')).toBe('theirs, and longer\n');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Overwrite' }).click();
  await page.getByText('Saved notes.txt').waitFor();
  expect(await read(id, 'notes.txt')).toBe('mine\r\nstays\r\n');
});

test('text that is typed while the file is saved stays in the editor', async () => {
  const id = await open();
  await put(id, 'notes.txt', 'one\n');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'notes.txt').click();
  await page.getByRole('button', { name: 'Edit' }).click();
  const editor = page.getByRole('textbox', { name: 'Text of notes.txt' });
  await editor.fill('one\ntwo\n');
  const { promise: typed, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: sent, resolve: isSent } = Promise.withResolvers<void>();
  await page.route(/\/files\/notes/, async (route) => {
    if (route.request().method() === 'PUT') {
      isSent();
      await typed;
    }
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await sent;
  await editor.fill('one\ntwo\nthree\n');
  goOn();
  await page.getByText('Saved notes.txt').waitFor();
  expect([await editor.inputValue(), await read(id, 'notes.txt')]).toEqual([
    'one\ntwo\nthree\n',
    'one\ntwo\n',
  ]);
  await page.getByRole('button', { name: 'Save' }).click();
  await editor.waitFor({ state: 'detached' });
  expect(await read(id, 'notes.txt')).toBe('one\ntwo\nthree\n');
});

test('an unsaved edit survives another tab and is discarded only after confirmation', async () => {
  const id = await open();
  await put(id, 'src/notes.txt', 'one\n');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'src').click();
  await item(page, 'notes.txt').click();
  await page.getByRole('button', { name: 'Edit' }).click();
  const editor = page.getByRole('textbox', { name: 'Text of src/notes.txt' });
  await editor.fill('one\ntwo\n');
  await page.getByRole('tab', { name: 'Logs' }).click();
  await editor.waitFor({ state: 'hidden' });
  await page.getByRole('tab', { name: 'Files' }).click();
  expect(await editor.inputValue()).toBe('one\ntwo\n');
  await page.getByRole('link', { name: 'Open in chat' }).click();
  await page.getByRole('alertdialog').getByText('src/notes.txt has unsaved changes').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await editor.inputValue()).toBe('one\ntwo\n');
  await page.getByRole('link', { name: 'Open in chat' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByLabel('Message').waitFor();
});

test('a folder with an unsaved edit is renamed only after confirmation', async () => {
  const id = await open();
  await put(id, 'src/notes.txt', 'one\n');
  await put(id, 'other.txt', 'other\n');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'src').click();
  await item(page, 'notes.txt').click();
  await page.getByRole('button', { name: 'Edit' }).click();
  const editor = page.getByRole('textbox', { name: 'Text of src/notes.txt' });
  await editor.fill('one\ntwo\n');
  await item(page, 'src').click();
  const rename = page.getByRole('button', { name: 'Rename folder' });
  await rename.click();
  await page.getByRole('alertdialog').getByText('src/notes.txt has unsaved changes').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await editor.inputValue()).toBe('one\ntwo\n');
  await rename.click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByLabel('Path').fill('lib');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await item(page, 'lib').waitFor();
  // Nothing is unsaved any more: the next file opens without a question.
  await item(page, 'other.txt').click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  expect(await read(id, 'lib/notes.txt')).toBe('one\n');
});

test('files are uploaded whole and in parts, downloaded and deleted', async () => {
  const id = await open();
  await put(id, 'keep.txt', 'kept');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'keep.txt').waitFor();
  const large = Buffer.alloc(5 * 1024 * 1024, 'sallyport ');
  await page.getByLabel('Files to upload').setInputFiles([
    { name: 'large.bin', mimeType: 'application/octet-stream', buffer: large },
    { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
  ]);
  await page.getByText('2 of 2 uploaded').waitFor({ timeout: 60_000 });
  expect(await read(id, 'large.bin')).toBe(large.toString());

  await item(page, 'large.bin').click();
  await page.getByText('Too large to show').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toBe('large.bin');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await item(page, 'large.bin').waitFor({ state: 'detached' });
  expect((await cloud.request(`/api/sessions/${id}/files/large.bin`)).status).toBe(404);
});

/** Requests that wait, until they are let through. */
const hold = async (page: Page, method: string, path: RegExp): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    if (route.request().method() === method) await promise;
    // One that was cancelled is over.
    await route.continue().catch(() => undefined);
  });
  return resolve;
};
const holdChanges = (page: Page) => hold(page, 'PUT', /\/files\//);
const textFile = (name: string, text: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
});

test('an upload is cancelled and tried again, and is not left without a question', async () => {
  const id = await open();
  await put(id, 'keep.txt', 'kept');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'keep.txt').waitFor();
  const release = await holdChanges(page);
  await page.getByLabel('Files to upload').setInputFiles([textFile('a.txt', 'a'), textFile('b.txt', 'b')]);
  await page.getByRole('button', { name: 'Cancel a.txt' }).press('Enter');
  await page.getByText('0 of 2 uploaded, 1 cancelled').waitFor();
  expect(await focused(page)).toBe('Upload a.txt again');
  await page.getByRole('progressbar', { name: 'Upload of b.txt' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole('link', { name: 'Open in chat' }).click();
  await page.getByRole('alertdialog').getByText('1 file is not uploaded yet').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const question = await asked;
  expect(question.type()).toBe('beforeunload');
  await question.dismiss();
  release();
  await page.getByText('1 of 2 uploaded, 1 cancelled').waitFor();
  await page.getByRole('button', { name: 'Upload a.txt again' }).click();
  await page.getByText('2 of 2 uploaded').waitFor();
  expect([await read(id, 'a.txt'), await read(id, 'b.txt')]).toEqual(['a', 'b']);
  await page.getByRole('link', { name: 'Open in chat' }).click();
  await page.getByLabel('Message').waitFor();
});

test('an upload replaces a file only after a question', async () => {
  const id = await open();
  await put(id, 'notes.txt', 'old');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'notes.txt').waitFor();
  const pick = () => page.getByLabel('Files to upload').setInputFiles([textFile('notes.txt', 'new')]);
  const question = page.getByRole('alertdialog', { name: 'Replace notes.txt?' });
  await pick();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect([await page.getByLabel('Uploads').count(), await read(id, 'notes.txt')]).toEqual([0, 'old']);
  await pick();
  await question.getByRole('button', { name: 'Replace' }).click();
  await page.getByText('1 of 1 uploaded').waitFor();
  expect(await read(id, 'notes.txt')).toBe('new');
});

test('two choices of files to upload ask one after the other; the open file is shown as it was replaced', async () => {
  const id = await open();
  await put(id, 'a.txt', 'old a');
  await put(id, 'b.txt', 'old b');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'a.txt').click();
  await page.locator('.code-block').getByText('old a').waitFor();
  const release = await hold(page, 'GET', /\/files\?/);
  const pick = (name: string) =>
    page.getByLabel('Files to upload').setInputFiles([textFile(name, `new ${name}`)]);
  await pick('a.txt');
  await pick('b.txt');
  release();
  for (const name of ['a.txt', 'b.txt'])
    await page
      .getByRole('alertdialog', { name: `Replace ${name}?` })
      .getByRole('button', { name: 'Replace' })
      .click();
  await page.getByText('2 of 2 uploaded').waitFor();
  expect([await read(id, 'a.txt'), await read(id, 'b.txt')]).toEqual(['new a.txt', 'new b.txt']);
  await page.locator('.code-block').getByText('new a.txt').waitFor();
  await page.getByRole('button', { name: 'Clear uploads' }).press('Enter');
  await page.getByLabel('Uploads').waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Files');
});

test('a file that is chosen to upload is not left without a question, and is not uploaded after it', async () => {
  const id = await open();
  await put(id, 'keep.txt', 'kept');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'keep.txt').waitFor();
  const release = await hold(page, 'GET', /\/files\?/);
  await page.getByLabel('Files to upload').setInputFiles([textFile('a.txt', 'a')]);
  await page.getByRole('link', { name: 'Open in chat' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByText('The chosen files are not uploaded yet').waitFor();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByLabel('Message').waitFor();
  const answered = page.waitForResponse(/\/files\?/);
  release();
  await answered;
  expect((await cloud.request(`/api/sessions/${id}/files/a.txt`)).status).toBe(404);
});

test('an upload that is tried again replaces a file only after a question', async () => {
  const id = await open();
  await put(id, 'keep.txt', 'kept');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'keep.txt').waitFor();
  const release = await holdChanges(page);
  await page.getByLabel('Files to upload').setInputFiles([textFile('a.txt', 'mine')]);
  await page.getByRole('button', { name: 'Cancel a.txt' }).click();
  await put(id, 'a.txt', 'theirs');
  release();
  await page.getByRole('button', { name: 'Upload a.txt again' }).click();
  const question = page.getByRole('alertdialog', { name: 'Replace a.txt?' });
  await question.waitFor();
  expect(await read(id, 'a.txt')).toBe('theirs');
  await question.getByRole('button', { name: 'Replace' }).click();
  await page.getByText('1 of 1 uploaded').waitFor();
  expect(await read(id, 'a.txt')).toBe('mine');
});

test('a download that fails is tried again', async () => {
  const id = await open();
  await put(id, 'notes.txt', 'text');
  const page = await openApp(cloud, { expects: /ERR_FAILED/ });
  await visit(page, id);
  await item(page, 'notes.txt').click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  await page.route(/\/files\/notes\.txt/, (route) => route.abort(), { times: 1 });
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByText('The server does not answer.').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Retry' }).click();
  expect((await download).suggestedFilename()).toBe('notes.txt');
});

test('a token that may not write gets no sign that files could be dropped', async () => {
  const id = await open();
  await put(id, 'notes.txt', 'text');
  const { token } = await cloud.ask<{ readonly token: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'reader', scope: 'admin:ro' }),
  });
  for (const [given, isOver] of [
    [token, false],
    [cloud.token, true],
  ] as const) {
    const page = await openApp({ url: cloud.url, token: given });
    await visit(page, id);
    await item(page, 'notes.txt').waitFor();
    const pane = page.getByRole('region', { name: 'Files', exact: true });
    await pane.evaluate(async (element) => {
      const options = { bubbles: true, cancelable: true, dataTransfer: new DataTransfer() };
      element.dispatchEvent(new DragEvent('dragover', options));
      await new Promise(requestAnimationFrame);
    });
    expect(await pane.evaluate((element) => element.classList.contains('over'))).toBe(isOver);
  }
});

test('a picture is shown, and binary files are named so', async () => {
  const id = await open();
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await put(id, 'dot.png', new Uint8Array(Buffer.from(png, 'base64')));
  await put(id, 'bytes.dat', new Uint8Array([1, 0, 255]));
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'dot.png').click();
  const picture = page.getByRole('img', { name: 'dot.png' });
  await picture.waitFor();
  await eventually(
    () => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    (width) => width === 1,
  );
  await item(page, 'bytes.dat').click();
  await page.getByText('Not a text file').waitFor();
});

test('a leased port opens its server in a new page', async () => {
  const agent = await openAgent(cloud);
  onTestFinished(agent.close);
  await agent.run('$ mkdir site; echo "<h1>shown</h1>" > site/index.html');
  const page = await openApp(cloud, { expects: /status of 50[0-9]|[Ss]andbox/ });
  await visit(page, agent.id);
  await page.getByRole('tab', { name: 'Preview' }).click();
  await page.getByRole('spinbutton', { name: 'Port' }).fill('7');
  await page.getByText('Enter a number from 1024 to 65535').waitFor();
  await page.getByRole('spinbutton', { name: 'Port' }).fill('8123');
  await page.getByRole('button', { name: 'Start a preview' }).click();
  await page.getByRole('button', { name: 'Check 8123' }).click();
  await page.getByText('no response', { exact: true }).waitFor();
  await page.getByRole('status').getByText('Port 8123: no response').waitFor({ state: 'attached' });
  await page.getByText('checked').waitFor();
  const refused = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'Open 8123' }).click();
  const early = await refused;
  await early.getByText('nothing listens on port 8123').waitFor();
  await agent.run('$ cd site; (python3 -m http.server 8123 >/dev/null 2>&1 &)');
  await eventually(
    () => cloud.request(`/api/sessions/${agent.id}/ports/8123/`),
    ({ status }) => status === 200,
  );
  await page.getByRole('button', { name: 'Check 8123' }).click();
  await page.getByText('responding', { exact: true }).waitFor();
  const opened = page.context().waitForEvent('page');
  await page.getByRole('button', { name: 'Open 8123' }).click();
  const preview = await opened;
  await preview.getByRole('heading', { name: 'shown' }).waitFor();
  expect(preview.url()).not.toContain('ticket');
  await early.getByRole('link', { name: 'Reload' }).click();
  await early.getByRole('heading', { name: 'shown' }).waitFor();
  await page.getByRole('spinbutton', { name: 'Port' }).fill('8124');
  await page.getByRole('button', { name: 'Start a preview' }).click();
  const handler = "type('Fails', (h.BaseHTTPRequestHandler,), {'do_GET': lambda self: self.send_error(500)})";
  const serve = `import http.server as h; h.HTTPServer(('', 8124), ${handler}).serve_forever()`;
  await agent.run(`$ (python3 -c "${serve}" >/dev/null 2>&1 &)`);
  await eventually(
    () => cloud.request(`/api/sessions/${agent.id}/ports/8124/`),
    ({ status }) => status === 500,
  );
  await page.getByRole('button', { name: 'Check 8124' }).click();
  await page.getByText('responding with HTTP 500', { exact: true }).waitFor();
  const { workspace } = await showSession(cloud, agent.id);
  killServer(cloud.home, String((await sandboxRecord(cloud, workspace)).taskArn));
  await page.getByText('No previews yet').waitFor();
});

test('the log shows the lifecycle, and the session is stopped', async () => {
  const id = await open();
  await put(id, 'a.txt', 'a');
  const page = await openApp(cloud);
  await visit(page, id);
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.getByText(/sandbox 1 ready after \d+ ms/).waitFor();
  await page.getByLabel('Show').selectOption('Programs (stderr)');
  await page.getByText('No log entries yet').waitFor();
  await page.getByLabel('Show').selectOption('All');
  await page.getByRole('button', { name: 'Stop session' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop session' }).click();
  await page.getByText(/sandbox 1 stopped/).waitFor({ timeout: 60_000 });
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByRole('heading', { name: 'The session has ended' }).waitFor();
});

test('a sandbox is paused, and its files are there when it is used again', async () => {
  const id = await open();
  await put(id, 'a.txt', 'kept');
  const page = await openApp(cloud);
  await visit(page, id);
  const pause = page.getByRole('button', { name: 'Pause', exact: true });
  await pause.click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Sandbox paused').waitFor();
  await pause.waitFor({ state: 'detached' });
  expect(await read(id, 'a.txt')).toBe('kept');
  await pause.waitFor({ timeout: 60_000 });
});

test('a file is found, edited and saved by keyboard alone', async () => {
  const id = await open();
  await put(id, 'docs/guide.md', '# Guide\n');
  await put(id, 'zebra.txt', 'z');
  const page = await openApp(cloud);
  await visit(page, id);
  await item(page, 'docs').waitFor();
  await tabTo(page, /^docs/);
  await page.keyboard.press('ArrowRight');
  await item(page, 'guide.md').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  await tabTo(page, 'Edit');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Text of docs/guide.md' }).waitFor();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('More.');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved docs/guide.md').waitFor();
  expect(await read(id, 'docs/guide.md')).toBe('# Guide\nMore.');
});

test('axe finds no violation in any look', async () => {
  const id = await open();
  const idle = await open();
  const code =
    'import json\n\n\ndef load(path: str) -> dict:\n    """Reads one invoice."""\n    with open(path) as file:\n        return json.load(file)\n';
  await put(id, 'src/invoice.py', code);
  await put(id, 'src/test_invoice.py', 'assert True\n');
  await put(id, 'README.md', '# Billing\n');
  await put(id, 'invoices.json', '[]\n');
  await inEveryLook(cloud, 'sandbox-none', async (page) => {
    await visit(page, idle);
    await page.getByText('The sandbox is not running').waitFor();
  });
  await inEveryLook(cloud, 'sandbox-files', async (page) => {
    await visit(page, id);
    await item(page, 'src').click();
    await item(page, 'invoice.py').first().click();
    await page.getByText('Reads one invoice').waitFor();
  });
  await inEveryLook(cloud, 'sandbox-logs', async (page) => {
    await visit(page, id);
    await page.getByRole('tab', { name: 'Logs' }).click();
    await page.getByText(/ready after/).waitFor();
  });
  await cloud.ask(`/api/sessions/${id}/ports`, { method: 'POST', body: '{}' });
  await inEveryLook(cloud, 'sandbox-preview', async (page) => {
    await visit(page, id);
    await page.getByRole('tab', { name: 'Preview' }).click();
    await page.getByText('Not checked').waitFor();
  });
  await inEveryLook(cloud, 'sandbox-facts', async (page) => {
    await visit(page, id);
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.getByText('½ CPU').waitFor();
  });
});

test('on a phone the chosen tab is in view, also after a reload', async () => {
  const id = await open();
  const page = await openApp(cloud, { viewport: phone });
  await goTo(page, cloud, `/chat/${id}?panel=files`);
  const inView = (name: string): Promise<boolean> =>
    page.getByRole('tab', { name, selected: true }).evaluate((tab) => {
      const [own, list] = [tab.getBoundingClientRect(), tab.parentElement?.getBoundingClientRect()];
      return list !== undefined && own.left >= list.left && own.right <= list.right;
    });
  for (const name of ['Preview', 'Logs']) {
    await page.getByRole('tab', { name }).evaluate((tab: HTMLElement) => tab.focus());
    await page.keyboard.press('Enter');
    await eventually(
      () => inView(name),
      (isIn) => isIn,
    );
  }
  await page.reload();
  await eventually(
    () => inView('Logs'),
    (isIn) => isIn,
  );
});

test('a snapshot is created, restored after a change, forked and deleted', async () => {
  const id = await open();
  await put(id, 'notes.txt', 'before');
  const page = await openApp(cloud);
  await visit(page, id);
  await page.getByRole('tab', { name: 'Snapshots' }).click();
  await page.getByText('No snapshots').waitFor();
  await page.getByLabel('Name of the snapshot').fill('first');
  await page.getByRole('button', { name: 'Create snapshot' }).click();
  await page.getByText('1 file, 6 B').waitFor();
  await inEveryLook(cloud, 'sandbox-snapshots', async (looked) => {
    await visit(looked, id);
    await looked.getByRole('tab', { name: 'Snapshots' }).click();
    await looked.getByText('1 file, 6 B').waitFor();
  });
  await put(id, 'notes.txt', 'after');
  await page.getByRole('button', { name: 'Restore first' }).click();
  await page.getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('Restored the snapshot “first”').waitFor();
  // A button that works keeps the focus.
  await page.locator('button:focus', { hasText: 'Restore' }).waitFor();
  expect(await read(id, 'notes.txt')).toBe('before');
  await page.getByRole('button', { name: 'Fork first' }).click();
  await page.waitForURL(({ hash }) => hash.endsWith('/sandbox') && !hash.includes(id));
  const [, fork = ''] = /sessions\/([0-9a-f-]+)\/sandbox/.exec(page.url()) ?? [];
  onTestFinished(async () => void (await cloud.ask(`/api/sessions/${fork}`, { method: 'DELETE' })));
  expect(await read(fork, 'notes.txt')).toBe('before');
  await visit(page, id);
  await page.getByRole('tab', { name: 'Snapshots' }).click();
  await page.getByRole('button', { name: 'Delete first' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('No snapshots').waitFor();
});

test('commands and code run in an execution session, and their output is shown', async () => {
  const body = JSON.stringify({ kind: 'execution', flavor: 'micro' });
  const { id } = await cloud.ask<{ id: string }>('/api/sessions', { method: 'POST', body });
  onTestFinished(async () => void (await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' })));
  const page = await openApp(cloud, { viewport: phone, colorScheme: 'dark' });
  await visit(page, id);
  const first = page.getByRole('article', { name: 'Run 1' });
  await page
    .getByLabel('Command')
    .fill('echo begun; until [ -e go ]; do sleep 0.1; done; echo ended; exit 3');
  await page.keyboard.press('Control+Enter');
  // It waits for a file that is written only after its first output was seen: so output comes while it runs.
  const printed = first.getByRole('figure');
  await printed.getByText('begun').waitFor({ timeout: 60_000 });
  await put(id, 'go', '');
  await printed.getByText('ended').waitFor();
  await first.getByText('exit code 3').waitFor();
  await page.getByLabel('Kind').selectOption('code');
  await page.getByLabel('Code', { exact: true }).fill('[n * n for n in range(5)]');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page
    .getByRole('article', { name: 'Run 2' })
    .getByRole('figure')
    .getByText('[0, 1, 4, 9, 16]')
    .waitFor();
  await page
    .getByLabel('Code', { exact: true })
    .fill('[{"city": "Rome", "price": 20}, {"city": "Oslo", "price": 9}]');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const table = page.getByRole('region', { name: 'Table' });
  await table.getByRole('button', { name: 'price' }).click();
  await table
    .getByRole('columnheader', { name: 'price' })
    .and(page.locator('[aria-sort=ascending]'))
    .waitFor();
  expect(await table.locator('tbody td').allInnerTexts()).toEqual(['Oslo', '9', 'Rome', '20']);
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'run-box');
  await page.getByRole('tab', { name: 'Details' }).click();
  await page.waitForURL(/tab=facts/);
  await page.reload();
  await page.getByRole('tab', { name: 'Details', selected: true }).waitFor();
});

test('a command is stopped when it has ended, and code that is left says that it goes on', async () => {
  const body = JSON.stringify({ kind: 'execution', flavor: 'micro' });
  const { id } = await cloud.ask<{ id: string }>('/api/sessions', { method: 'POST', body });
  onTestFinished(async () => void (await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' })));
  const page = await openApp(cloud, { viewport: phone, colorScheme: 'light' });
  await visit(page, id);
  await page.getByLabel('Command').fill('echo begun; sleep 600');
  await page.keyboard.press('Control+Enter');
  const first = page.getByRole('article', { name: 'Run 1' });
  await first.getByRole('figure').getByText('begun').waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await first.getByText('stopped', { exact: true }).waitFor();
  const { processes } = await cloud.ask<{ processes: readonly { state: string }[] }>(
    `/api/sessions/${id}/processes`,
  );
  expect(processes.map(({ state }) => state)).toEqual(['exited']);
  await page.getByLabel('Kind').selectOption('code');
  await page.getByLabel('Code', { exact: true }).fill('import time; time.sleep(20)');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Stop waiting' }).click();
  const second = page.getByRole('article', { name: 'Run 2' });
  await second.getByText('not waited for', { exact: true }).waitFor();
  await second.getByText(/keeps running in the sandbox/).waitFor();
  expect(await axe(page)).toEqual([]);
});
