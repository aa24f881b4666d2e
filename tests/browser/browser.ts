/**
 * A real Chromium, and pages of it that tell on themselves: a console error, a broken policy, a failed script or a
 * request to another origin makes the test that opened the page fail.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { headlessShell } from './setup.ts';

// biome-ignore lint/style/noProcessEnv: which browser is there is a fact of the machine, and pictures are for a person
const { CHROMIUM_PATH: named, PICTURES: pictures } = process.env;
/** With all of its own rules and prompts. */
export const chromiumPath = named ?? '/usr/bin/chromium';
/** Found at the first launch: it may be installed while other tests run. */
const pagesPath = (): string => named ?? (existsSync(headlessShell) ? headlessShell : chromiumPath);
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

export type PageOptions = {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  /** Of what the page says, that which this test is about. */
  readonly expects?: RegExp;
};

/** A ceiling: the first page of a busy machine waits for all functions to load. */
const pageMsMax = 120_000;

type Watched = { readonly context: BrowserContext; readonly complaints: string[] };

let browser: Promise<Browser> | undefined;
const watched: Watched[] = [];

/** One for all files of a worker; it ends with the worker. */
const launch = (): Promise<Browser> => {
  browser ??= chromium.launch({
    executablePath: pagesPath(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return browser;
};

/** A page of a profile of its own, not yet anywhere. */
export const newPage = async (
  origin: string,
  { viewport = desktop, colorScheme = 'light', expects }: PageOptions = {},
): Promise<Page> => {
  const context = await (await launch()).newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  context.setDefaultTimeout(pageMsMax);
  const complaints: string[] = [];
  watched.push({ context, complaints });
  const complain = (text: string): void => {
    if (expects?.test(text) !== true) complaints.push(text);
  };
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complain(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => complain(String(error.error())));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (['http:', 'https:'].includes(url.protocol) && url.origin !== origin)
      complain(`a request to ${url.origin}`);
  });
  return context.newPage();
};

/** A page that the link of `npm start` has opened. */
export const openApp = async (
  { url, token }: { readonly url: string; readonly token: string },
  options: PageOptions = {},
): Promise<Page> => {
  const page = await newPage(url, options);
  await page.goto(`${url}/#token=${token}`);
  await page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Menu' }))
    .filter({ visible: true })
    .first()
    .waitFor();
  return page;
};

let axeText: string | undefined;
const axeSource = (): string => {
  axeText ??= readFileSync(axePath, 'utf8');
  return axeText;
};

type Finding = { readonly rule: string; readonly nodes: readonly string[] };

/** The rules whose answer depends on colours: a page that all rules passed in one scheme needs these in the other. */
export const colourRules: readonly string[] = ['color-contrast', 'link-in-text-block'];

/** Waits for transitions of colours to end: between two looks a text may have no contrast. */
const atRest = `new Promise(requestAnimationFrame).then(() =>
  Promise.allSettled(
    document.getAnimations().flatMap((one) => (one instanceof CSSTransition ? [one.finished] : [])),
  ).then(() => undefined))`;

/** Violations of WCAG 2.2 AA that axe finds on the page at rest, by all rules or those named. */
export const axe = async (page: Page, rules?: readonly string[]): Promise<readonly Finding[]> => {
  // The policy forbids added scripts, and the browser itself may still add one: to each document once.
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axeSource());
  await page.evaluate(atRest);
  return page.evaluate(async (named) => {
    const { axe } = globalThis as unknown as {
      readonly axe: {
        run: (options: object) => Promise<{
          violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
        }>;
      };
    };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const runOnly = named === undefined ? { type: 'tag', values: tags } : { type: 'rule', values: named };
    const { violations } = await axe.run({ runOnly });
    return violations.map(({ id, nodes }) => ({
      rule: id,
      nodes: nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`),
    }));
  }, rules);
};

const painted = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/**
 * Where a test leaves what a person may want to look at, with `PICTURES=true`: each costs as much as a page.
 * Without, the page is painted as for its picture, so that the next step meets the same page.
 */
export const screenshot = async (page: Page, name: string): Promise<void> => {
  if (pictures === 'true') await page.screenshot({ path: `coverage/browser/${name}.png` });
  else await page.evaluate(painted);
};

/** After each test (`each-test.ts`): closes its pages, and fails it for what they complained of. */
export const closePages = async (): Promise<void> => {
  const pages = watched.splice(0);
  await Promise.all(pages.map(({ context }) => context.close()));
  // As one text, since the list of repeated tests has only the message.
  expect(pages.flatMap(({ complaints }) => complaints).join('\n')).toBe('');
};
