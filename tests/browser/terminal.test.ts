/** Terminals on the sandbox page: opened, typed into, resized, shown again after a reload, left and closed. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession, sandboxRecord, showSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { killServer } from '../e2e/sandbox-processes.ts';
import { openApp } from './browser.ts';
import { goTo, inEveryLook } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const open = async (): Promise<string> => {
  const { id } = await makeSession(cloud, { kind: 'execution', flavor: 'micro' });
  onTestFinished(async () => void (await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' })));
  return id;
};
const visit = async (page: Page, id: string): Promise<void> => {
  await goTo(page, cloud, `/sessions/${id}/sandbox`);
  await page.getByRole('tab', { name: 'Terminal' }).click();
};
const input = (page: Page, name = 'Terminal 1') => page.getByRole('textbox', { name, exact: true });
/** Lines are shown in rows, with spaces as they are printed. */
const shows = (page: Page, text: string | RegExp) =>
  page.locator('.xterm-rows').getByText(text).first().waitFor();
const type = async (page: Page, line: string): Promise<void> => {
  await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' });
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
};

test('a terminal is opened, typed into, resized, and is there again after a reload', async () => {
  const id = await open();
  const page = await openApp(cloud);
  await visit(page, id);
  await page.getByText('A new terminal starts it').waitFor();
  await page.getByRole('button', { name: 'New terminal' }).click();
  await input(page).waitFor();
  await shows(page, '$');
  // The focus is in it: what is typed arrives.
  await type(page, 'echo "size: $(stty size)"; echo $((6 * 7))-done');
  await shows(page, '42-done');
  const size = async () =>
    (await page
      .locator('.xterm-rows')
      .getByText(/^size: /)
      .last()
      .textContent()) ?? '';
  const before = await size();
  await page.setViewportSize({ width: 820, height: 600 });
  await expect
    .poll(
      async () => {
        await type(page, 'clear; echo "size: $(stty size)"');
        await shows(page, /^size: /);
        return size();
      },
      { timeout: 60_000, interval: 500 },
    )
    .not.toBe(before);
  await type(page, "clear; printf '\\033[38;2;250;200;100mtrue colour\\033[0m\\n'; echo kept-$((1 + 1))");
  await shows(page, 'kept-2');
  const colour = await page
    .locator('.xterm-rows')
    .getByText('true colour', { exact: true })
    .evaluate((element) => getComputedStyle(element).color);
  expect(colour).toBe('rgb(250, 200, 100)');
  await page.reload();
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await shows(page, 'kept-2');
  await input(page).focus();
  await type(page, 'echo again-$((3 + 4))');
  await shows(page, 'again-7');
  expect(await page.locator('.xterm-rows').getByText('kept-2').count()).toBe(1);
});

test('what is typed before the terminal is connected arrives', async () => {
  const id = await open();
  const page = await openApp(cloud);
  const connecting = Promise.withResolvers<void>();
  await page.routeWebSocket(/\/ws\?sessionId=/, async (socket) => {
    await connecting.promise;
    socket.connectToServer();
  });
  await visit(page, id);
  await page.getByRole('button', { name: 'New terminal' }).click();
  await type(page, 'echo early-$((5 + 5))');
  connecting.resolve();
  await shows(page, 'early-10');
});

test('terminals are listed, left by the keyboard, and closed', async () => {
  const id = await open();
  const page = await openApp(cloud);
  await visit(page, id);
  await page.getByRole('button', { name: 'New terminal' }).click();
  await shows(page, '$');
  await type(page, 'echo first-$((1 + 0))');
  await shows(page, 'first-1');
  await page.keyboard.press('Control+]');
  expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('New terminal');
  await page.keyboard.press('Enter');
  await input(page, 'Terminal 2').waitFor();
  await shows(page, '$');
  await type(page, 'exit 3');
  await page.getByText('The shell has ended with exit code 3.').waitFor();
  await page.getByRole('button', { name: 'Close terminal' }).click();
  await shows(page, 'first-1');
  await page.getByRole('button', { name: 'Close terminal' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Close terminal' }).click();
  await page.getByText('No terminal is open').waitFor();
});

test('a terminal says that its sandbox has stopped, and a new one starts it again', async () => {
  const id = await open();
  // A request for a sandbox at the moment of its death is refused.
  const page = await openApp(cloud, { expects: /Failed to load resource: .* status of (404|409|503)/ });
  await visit(page, id);
  await page.getByRole('button', { name: 'New terminal' }).click();
  await shows(page, '$');
  const { workspace } = await showSession(cloud, id);
  killServer(cloud.home, String((await sandboxRecord(cloud, workspace)).taskArn));
  await page.getByText('The sandbox has stopped, and the terminal ended with it.').waitFor();
  await page.getByRole('button', { name: 'New terminal' }).click();
  await input(page, 'Terminal 2').waitFor();
  await type(page, 'echo anew-$((4 + 4))');
  await shows(page, 'anew-8');
  await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });
  await page.getByText('Its terminals ended with it.').waitFor();
});

test('a terminal is readable in every look', async () => {
  const id = await open();
  const { processId } = await cloud.ask<{ processId: string }>(`/api/sessions/${id}/processes`, {
    method: 'POST',
    body: JSON.stringify({ command: 'bash', pty: { cols: 80, rows: 24 } }),
  });
  const colours =
    "for n in 1 2 3 4 5 6 7; do printf '\\033[3%smcolour %s \\033[0m' $n $n; done; echo; ls --color -la /usr\r";
  await cloud.request(`/api/sessions/${id}/processes/${processId}/stdin`, { method: 'POST', body: colours });
  await inEveryLook(cloud, 'terminal', async (page) => {
    await visit(page, id);
    await shows(page, 'colour 7');
  });
});
