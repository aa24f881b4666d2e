/**
 * The end of each browser test: its pages are closed before the file ends the sessions below them. A page that is still open reads
 * one of these, and would fail the test for an answer that it has made itself.
 */
import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { newPage } from './browser.ts';

let page: Page | undefined;
const wasClosed: boolean[] = [];
afterEach(() => {
  wasClosed.push(page?.isClosed() === true);
});

test('a page is left open at the end of a test', async () => {
  // Of an earlier try, if there was one.
  wasClosed.length = 0;
  page = await newPage('http://127.0.0.1');
  expect(page.isClosed()).toBe(false);
});

test('it was closed before the file ended what the test had begun', () => {
  expect(wasClosed[0]).toBe(true);
});
