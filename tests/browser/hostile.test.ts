/** Hostile output: it stays text, nothing of it runs, and the page stays responsive. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type AnthropicServer, openAnthropicServer } from '../e2e/anthropic-server.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { openApp } from './browser.ts';
import { approve, ended, say } from './chat.ts';
import { kernedRuns, openDrawnMeter } from './page-work.ts';

let model: AnthropicServer;
let cloud: EmbeddedCloud;
beforeAll(async () => {
  model = await openAnthropicServer();
  cloud = await openEmbeddedCloud({
    variables: { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: model.url, LLM_PROVIDER: 'demo' },
  });
});
afterAll(async () => {
  await cloud.stop();
  model.close();
});

const attacks = [
  '<img src=x onerror="window.hurt=1">',
  '<script>window.hurt=2</script>',
  '<svg onload="window.hurt=3">',
  '<a href="javascript:window.hurt=4">click</a>',
  '[click](javascript:window.hurt=5)',
  '[data](data:text/html,<script>window.hurt=6</script>)',
  '![picture](http://elsewhere.example/x.png)',
  '<iframe srcdoc="<script>parent.hurt=7</script>"></iframe>',
  '<style>body{display:none}</style>',
  '<form action="http://elsewhere.example"><input name=token></form>',
];

const elements = (page: Page) =>
  page.evaluate(() => ({
    hurt: (globalThis as { hurt?: number }).hurt,
    forbidden: Array.from(
      document.querySelectorAll(
        '.column img, .column script, .column svg[onload], .column iframe, .column style, .column form, .column input',
      ),
      ({ outerHTML }) => outerHTML,
    ),
    links: Array.from(document.querySelectorAll<HTMLAnchorElement>('.column a'), ({ href }) => href),
  }));

test('markup in an answer is shown as text, but for a link that leads to another page', async () => {
  const { id } = await makeSession(cloud, { provider: 'anthropic' });
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/chat/${id}`);
  model.script.push({ says: attacks.join('\n\n') });
  await say(page, 'attack');
  await ended(page);
  const text = await page.locator('.column').innerText();
  for (const attack of attacks.filter((one) => one.startsWith('<'))) expect(text).toContain(attack);
  expect(await elements(page)).toEqual({
    hurt: undefined,
    forbidden: [],
    links: [expect.stringMatching(/^http:\/\/elsewhere\.example\//)],
  });
});

test('markup in a message, in arguments and in output is shown as text', async () => {
  const page = await openApp(cloud);
  await say(page, `$ cat <<'END'\n${attacks.join('\n')}\nEND\n`);
  // The demo provider takes one line as one command: the rest of it is text of the message.
  await approve(page);
  await ended(page);
  for (const [index, attack] of attacks.entries()) {
    await say(page, `$ printf '%s\\n' '${attack}'`);
    await approve(page);
    await ended(page, index + 2);
  }
  const text = await page.locator('.column').innerText();
  for (const attack of attacks) expect(text).toContain(attack);
  expect(await elements(page)).toEqual({
    hurt: undefined,
    forbidden: [],
    links: [],
  });
});

test('a program cannot draw over the page with escape sequences', async () => {
  const page = await openApp(cloud);
  await say(
    page,
    String.raw`$ printf '\033[31mred\033[0m \033]8;;javascript:alert(1)\007link\033]8;;\007 \033]0;title\007\033[2J\033[Hhome \033[8mhidden\033[0m \xe2\x80\xaeturned\n50%%\r100%%\n'`,
  );
  await approve(page);
  await ended(page);
  const terminal = page.locator('.terminal').first();
  expect((await terminal.innerText()).trim()).toBe('red link home hidden turned\n100%');
  expect(await terminal.locator('.ansi-red').innerText()).toBe('red');
  expect(await page.title()).toMatch(/^\$ printf .* · Sallyport$/);
});

/** The server retains a part of a result, and the page shows a part of that. */
const charactersMax = 100_000;

test('of a line of 5 MB the page draws a part, in letters that it can break fast', async () => {
  const page = await openApp(cloud);
  await say(page, "$ head -c 5000000 /dev/zero | tr '\\0' 'x'; echo; echo done");
  const drawn = await openDrawnMeter(page);
  await approve(page);
  await ended(page);
  await page.getByText('Truncated').first().waitFor();
  expect(await kernedRuns(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
  const { characters } = await drawn.read();
  expect(characters).toBeLessThan(charactersMax);
  await say(page, 'hello');
  await ended(page, 2);
});

test('a line of 20 KB that a person writes is drawn in letters that the page can break fast', async () => {
  const page = await openApp(cloud);
  const line = 'x'.repeat(20_000);
  await page.getByLabel('Message').fill(line);
  expect(await kernedRuns(page)).toEqual([]);
  await page.getByLabel('Message').press('Enter');
  await ended(page);
  expect((await page.locator('[data-kind="question"]').innerText()).includes(line)).toBe(true);
  expect(await kernedRuns(page)).toEqual([]);
});
