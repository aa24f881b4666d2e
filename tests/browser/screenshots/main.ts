/**
 * `npm run screenshots`: the pictures of the README, in docs/screenshots, of an embedded cloud with the demo provider.
 * Each is made in light, in dark and on a phone, under a name that stays.
 *
 * `npm run screenshots -- states <folder>` takes those of the states that a person has to look at instead.
 */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { provideChromium } from '../../../local/chromium.ts';
import { buildWebWhenStale } from '../../../local/web-build.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../../e2e/embedded-cloud.ts';
import { mayApprove } from '../chat.ts';
import { looks, settleMs } from './picture-looks.ts';
import { type Scenes, setScenes } from './scenes.ts';
import { takeStates } from './state-pictures.ts';

const repository = resolve(import.meta.dirname, '..', '..', '..');
const folder = join(repository, 'docs', 'screenshots');

type Picture = {
  readonly name: string;
  readonly path: (scenes: Scenes) => string;
  readonly pose: (page: Page) => Promise<unknown>;
};

const pictures: readonly Picture[] = [
  {
    name: 'chat',
    path: ({ waiting }) => `/chat/${waiting}`,
    pose: mayApprove,
  },
  {
    name: 'sandbox',
    path: ({ working }) => `/sessions/${working}/sandbox`,
    pose: (page) => page.getByRole('treeitem', { name: 'report.py' }).click(),
  },
  {
    name: 'operator',
    path: () => '/operator',
    pose: async (page) => {
      await page.getByText('in steps of 5 minutes').waitFor();
      await page.getByText('24 h').click();
      await page.getByText('in steps of 30 minutes').waitFor();
      await page.locator('canvas').first().waitFor();
    },
  },
];

const take = async (browser: Browser, { url, token }: EmbeddedCloud, scenes: Scenes): Promise<void> => {
  for (const { name: look, ...options } of looks.slice(0, 3)) {
    const context = await browser.newContext({ ...options, reducedMotion: 'reduce', locale: 'en' });
    const page = await context.newPage();
    await page.goto(`${url}/#token=${token}`);
    await page.getByRole('main').waitFor();
    for (const { name, path, pose } of pictures) {
      await page.goto(`${url}/#${path(scenes)}`);
      await pose(page);
      await page.mouse.move(0, 0);
      await page.waitForTimeout(settleMs);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`) });
      process.stdout.write(`docs/screenshots/${name}-${look}.png\n`);
    }
    await context.close();
  }
};

const takeAll = async (browser: Browser): Promise<void> => {
  await using cleaning = new AsyncDisposableStack();
  await mkdir(folder, { recursive: true });
  const cloud = await openEmbeddedCloud({ variables: { LLM_PROVIDER: 'demo', POOL_SIZE: '2' } });
  cleaning.defer(cloud.stop);
  await take(browser, cloud, await setScenes(cloud));
};

const run = async ([kind, into, ...names]: readonly string[]): Promise<void> => {
  await using cleaning = new AsyncDisposableStack();
  await buildWebWhenStale({ repository, progress: () => undefined });
  // biome-ignore lint/style/noProcessEnv: which browser is there is a fact of the machine
  const executablePath = await provideChromium(process.env);
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  cleaning.defer(() => browser.close());
  if (kind !== 'states') await takeAll(browser);
  else if (into === undefined) throw new Error('Name the folder of the pictures.');
  else await takeStates(browser, { into, names });
};

run(process.argv.slice(2)).then(
  () => process.exit(0),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(1);
  },
);
