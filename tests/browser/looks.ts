/**
 * Checks a page in every look: large and small, light and dark. Each passes axe, and may leave a picture.
 *
 * A scheme changes colours alone: axe has all of its rules in one, and those about colours in the other, too.
 */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { axe, colourRules, desktop, openApp, phone, screenshot } from './browser.ts';

const looks = [
  { name: 'light', viewport: desktop, colorScheme: 'light' },
  { name: 'dark', viewport: desktop, colorScheme: 'dark' },
  { name: 'phone-light', viewport: phone, colorScheme: 'light' },
  { name: 'phone-dark', viewport: phone, colorScheme: 'dark' },
] as const;

export const goTo = async (page: Page, { url }: Pick<Cloud, 'url'>, path: string): Promise<void> => {
  await page.goto(`${url}/#${path}`);
};

type Cloud = { readonly url: string; readonly token: string };

/** Of a page that is open, and is left in the last of the looks. */
export const everyLookOf = async (page: Page, shot: string): Promise<void> => {
  const found = [];
  for (const { name, viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === 'light' ? undefined : colourRules;
    found.push(...(await axe(page, rules)).map((finding) => ({ look: name, ...finding })));
    await screenshot(page, `${shot}-${name}`);
    const overflow = await page.evaluate(
      'document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth',
    );
    if (overflow !== 0) found.push({ look: name, rule: 'no sideways scrolling', nodes: [`${overflow} px`] });
  }
  expect(found).toEqual([]);
};

export const inEveryLook = async (
  cloud: Cloud,
  shot: string,
  visit: (page: Page) => Promise<unknown>,
): Promise<void> => {
  const page = await openApp(cloud);
  await visit(page);
  await everyLookOf(page, shot);
};

/** Presses Tab until an element of this name has the focus. */
export const tabTo = async (page: Page, name: string | RegExp): Promise<void> => {
  const pressesMax = 80;
  for (let press = 0; press < pressesMax; press += 1) {
    const focused = page.locator(':focus');
    const label = (await focused.count()) === 0 ? '' : await nameOf(page);
    if (typeof name === 'string' ? label === name : name.test(label)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${name}`);
};

/** Accessible name of the focused element: its label, otherwise its text. */
const nameOf = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const at = document.activeElement;
    const label = at.labels?.[0]?.innerText.split(' · ')[0];
    return (at.getAttribute('aria-label') ?? label ?? at.innerText ?? '').trim();
  })()`);
