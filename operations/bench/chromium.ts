/** A real Chromium beside a deployment of this machine, with the web app that it serves, for the benches of the page. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { provideChromium } from '../../local/chromium.ts';
import { startCloud } from '../../local/cloud.ts';
import { start as startEcs } from '../../local/ecs/start.ts';
import { buildWebWhenStale } from '../../local/web-build.ts';

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
  const home = await mkdtemp(join(tmpdir(), 'sallyport-bench-'));
  starting.defer(() => rm(home, { recursive: true, force: true }));
  const token = `sp_${'be'.repeat(32)}`;
  const cloud = await startCloud({
    home,
    port: 0,
    token,
    sandboxSecret: 'a secret of at least thirty-two characters',
    variables: { LLM_PROVIDER: 'demo', RATE_LIMIT_PER_SECOND: '10000', RATE_LIMIT_BURST: '20000' },
    sweepMs: 2_000_000,
    startSandboxHost: startEcs,
  });
  starting.defer(cloud.stop);
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  starting.defer(() => browser.close());
  const cleaning = starting.move();
  return {
    url: cloud.url,
    token,
    newContext: () => browser.newContext({ viewport: { width: 1280, height: 800 } }),
    [Symbol.asyncDispose]: () => cleaning.disposeAsync(),
  };
};
