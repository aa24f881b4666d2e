/** Server restart: the page shows that it is offline, waits, and resumes. */
import { expect, onTestFinished, test } from 'vitest';
import { makeHomePath, type Server, startServer } from '../e2e/server.ts';
import { openApp } from './browser.ts';
import { approve, ended, place, say } from './chat.ts';

/** As the browser sees it: on a machine without a network it is offline itself. */
const away = /^(?:You're offline|The server does not answer)/;

const start = async (home: string, port: string): Promise<Server> => {
  const server = await startServer({ home, variables: { PORT: port } });
  onTestFinished(async () => void (await server.stop()));
  return server;
};

test('killed and started again in the middle of a decision, nothing is lost', async () => {
  const home = await makeHomePath();
  const first = await start(home, '0');
  const { port } = new URL(first.url);
  // The browser logs refused connections, which this test expects.
  const page = await openApp(first, { expects: /WebSocket connection|ERR_|status of 50/ });
  await say(page, '$ echo before\n$ echo after');
  await place(page, '1 of 2');
  await approve(page);
  await place(page, '2 of 2');
  await first.kill();
  await page.getByText(away).waitFor();
  await page.getByText(/reconnecting (?:now|in \d+ s)/).waitFor();
  await page.getByLabel('Message').fill('$ echo written while it was away');
  await page.getByLabel('Message').press('Enter');
  await page.getByText('sending').waitFor();

  await start(home, port);
  await page.getByText(away).waitFor({ state: 'hidden' });
  await place(page, '2 of 2');
  await approve(page);
  await ended(page);
  await place(page, '1 of 1');
  await approve(page);
  await ended(page, 2);
  expect(await page.locator('[data-kind="question"]').count()).toBe(2);
  expect(await page.locator('.terminal').allInnerTexts()).toEqual([
    expect.stringContaining('before'),
    expect.stringContaining('after'),
    expect.stringContaining('written while it was away'),
  ]);
});
