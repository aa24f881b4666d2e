/** What tests do in the chat, in the words of a person. */
import type { Page } from 'playwright-core';

export const say = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message').fill(text);
  await page.getByLabel('Message').press('Enter');
};

export const approve = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Approve', exact: true }).click();

/** The first second is over, and all of the call was in view. */
export const mayApprove = async (page: Page): Promise<void> => {
  const enabled = page.locator('button:enabled', { hasText: /^\s*Approve\s*$/ });
  await enabled.waitFor();
};

export const place = (page: Page, words: string): Promise<void> =>
  page.getByLabel('Waiting for your approval').getByText(words, { exact: true }).waitFor();

/** The turn has ended, however many have. */
export const ended = (page: Page, turns = 1): Promise<void> =>
  page
    .locator('[data-kind="end"]')
    .nth(turns - 1)
    .waitFor();
