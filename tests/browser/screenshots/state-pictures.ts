/** Takes the pictures of `states.ts` into a folder: each state posed once, in a profile of its own, and taken in each look. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openEmbeddedCloud } from '../../e2e/embedded-cloud.ts';
import { openPacedProvider } from '../paced-provider.ts';
import { looks, settleMs } from './picture-looks.ts';
import { setStateScenes } from './state-scenes.ts';
import { emptyStates, type Stage, type State, states } from './states.ts';

const poseMsMax = 30_000;

export type StateChoice = {
  readonly into: string;
  /** Beginnings of names; none for all. */
  readonly names: readonly string[];
};

export const takeStates = async (browser: Browser, { into, names }: StateChoice): Promise<void> => {
  await using cleaning = new AsyncDisposableStack();
  await mkdir(into, { recursive: true });
  const provider = await openPacedProvider();
  cleaning.defer(provider.close);
  const cloud = await openEmbeddedCloud({
    variables: {
      ...{ ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: provider.url, LLM_PROVIDER: 'anthropic' },
      ...{ MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1', MCP_CHECK_SECONDS: '1' },
    },
  });
  cleaning.defer(cloud.stop);
  const scenes = await setStateScenes(cloud, provider, (close) => cleaning.defer(close));
  const isWanted = ({ name }: State): boolean =>
    names.length === 0 || names.some((part) => name.startsWith(part));
  const asAdmin = { cloud, provider, scenes, token: cloud.token };
  const asNewcomer = { ...asAdmin, token: scenes.emptyToken };
  for (const state of states.filter(isWanted)) await takeState(browser, asAdmin, { state, into });
  for (const state of emptyStates.filter(isWanted)) await takeState(browser, asNewcomer, { state, into });
};

const takeState = async (
  browser: Browser,
  { token, ...stage }: Stage & { readonly token: string },
  { state, into }: { readonly state: State; readonly into: string },
): Promise<void> => {
  const context = await browser.newContext({
    viewport: looks[0].viewport,
    reducedMotion: 'reduce',
    locale: 'en',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(poseMsMax);
  await page.goto(`${stage.cloud.url}/#token=${token}`);
  await page.getByRole('main').waitFor();
  let told = '';
  try {
    await page.goto(`${stage.cloud.url}/#${state.path(stage)}`);
    await state.pose(page, stage);
  } catch (error) {
    // The picture then shows what there was instead.
    told = `: ${String(error).split('\n')[0]}`;
  }
  await page.mouse.move(0, 0);
  for (const { name, viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(settleMs);
    await page.screenshot({ path: join(into, `${state.name}-${name}.png`) });
  }
  process.stdout.write(`${state.name}${told}\n`);
  await context.close();
};
