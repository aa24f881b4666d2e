/** The check for accessibility itself: it judges a page whose colours have come to rest, not one between two looks. */
import { expect, test } from 'vitest';
import { axe, newPage } from './browser.ts';

const text = `<!doctype html><html lang="en"><title>Two looks</title><main><h1>Two looks</h1>
  <p style="background: #fff; color: #ddd; transition: color 2s linear">Words that become readable</p></main></html>`;

test('a page is judged after the transitions of its colours', async () => {
  const page = await newPage('http://127.0.0.1');
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.setContent(text);
  expect((await axe(page)).map(({ rule }) => rule)).toEqual(['color-contrast']);
  await page.evaluate(`document.querySelector('p').style.color = '#000'`);
  expect(await axe(page)).toEqual([]);
});
