/** A real Chromium beside a deployment of this machine, with the web app that it serves, for the benches of the page. */
import { resolve } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { provideChromium } from '../../local/chromium.ts';
import { buildWebWhenStale } from '../../local/web-build.ts';
import { openEmbeddedCloud } from '../../tests/e2e/embedded-cloud.ts';

export type Bench = {
  readonly url: string;
  readonly token: string;
  /** A profile of its own, with nothing cached. */
  readonly newContext: () => Promise<BrowserContext>;
} & AsyncDisposable;

export const openChromium = async (): Promise<Bench> => {
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  // biome-ignore lint/style/noProcessEnv: which browser is there is a fact of the machine
  const executablePath = await provideChromium(process.env, progress);
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..', '..'), progress });
  await using starting = new AsyncDisposableStack();
  const { url, token, stop } = await openEmbeddedCloud({ variables: { LLM_PROVIDER: 'demo' } });
  starting.defer(stop);
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  starting.defer(() => browser.close());
  const cleaning = starting.move();
  return {
    url,
    token,
    newContext: () => browser.newContext({ viewport: { width: 1280, height: 800 } }),
    [Symbol.asyncDispose]: () => cleaning.disposeAsync(),
  };
};
