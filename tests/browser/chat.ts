/** Actions of the chat for tests. */
import type { Page } from 'playwright-core';

export const say = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message').fill(text);
  await page.getByLabel('Message').press('Enter');
};

export const approve = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Approve', exact: true }).click();

/** Waits until Approve is enabled: after the first second, with all of the call in view. */
export const mayApprove = async (page: Page): Promise<void> => {
  const enabled = page.locator('button:enabled', { hasText: /^\s*Approve\s*$/ });
  await enabled.waitFor();
};

export const place = (page: Page, words: string): Promise<void> =>
  page.getByLabel('Waiting for your approval').getByText(words, { exact: true }).waitFor();

/** Waits for the end of a number of turns. */
export const ended = (page: Page, turns = 1): Promise<void> =>
  page
    .locator('[data-kind="end"]')
    .nth(turns - 1)
    .waitFor();
