/** Counts of what a page has drawn, the same on any machine: a page that would freeze draws too much. */
import type { Page } from 'playwright-core';

type Drawn = {
  /** The most that the page had at one time since the meter was opened. */
  readonly characters: number;
  readonly elements: number;
  readonly items: number;
};

export type DrawnMeter = { readonly read: () => Promise<Drawn>; readonly close: () => Promise<void> };

/** Opens a meter of what the page has drawn; it looks after each change. */
export const openDrawnMeter = async (page: Page): Promise<DrawnMeter> => {
  await page.evaluate(() => {
    const most = { characters: 0, elements: 0, items: 0 };
    const look = (): void => {
      const now = {
        characters: document.body.textContent.length,
        elements: document.getElementsByTagName('*').length,
        items: document.getElementsByClassName('item').length,
      };
      for (const name of Object.keys(most) as (keyof typeof most)[])
        most[name] = Math.max(most[name], now[name]);
    };
    look();
    const looking = new MutationObserver(look);
    looking.observe(document, { subtree: true, childList: true, characterData: true });
    Object.assign(globalThis, { drawn: { most, looking } });
  });
  return {
    read: () => page.evaluate(() => (globalThis as unknown as InPage).drawn.most),
    close: () => page.evaluate(() => (globalThis as unknown as InPage).drawn.looking.disconnect()),
  };
};

type InPage = { readonly drawn: { readonly most: Drawn; readonly looking: MutationObserver } };

/**
 * Long runs of letters in a font that moves letters together: the browser shapes the rest of such a run again for each
 * line that it breaks, which takes seconds at 50 KB.
 */
export const kernedRuns = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    const look = (element: Element, text: string): void => {
      const run = /\S{1000,}/.exec(text)?.[0];
      const { fontKerning, fontFamily } = getComputedStyle(element);
      if (run === undefined || fontKerning === 'none' || /mono/i.test(fontFamily)) return;
      found.push(`${element.outerHTML.slice(0, 80)}: ${run.length}`);
    };
    while (texts.nextNode()) {
      const { parentElement, nodeValue } = texts.currentNode;
      if (parentElement !== null) look(parentElement, nodeValue ?? '');
    }
    for (const field of document.querySelectorAll('textarea')) look(field, field.value);
    return found;
  });
