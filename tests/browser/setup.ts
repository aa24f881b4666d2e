/**
 * Setup of the browser tests: builds the web app, and installs Chromium by apt when it is missing.
 *
 * The installation may take minutes and nearly nothing of the processors, so that only the browser tests wait for it: a file
 * appears when it has ended (`each-test.ts`).
 */
import { closeSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { installed, provideChromium } from '../../local/chromium.ts';
import { inspectMachine } from '../../local/system-programs.ts';
import { buildWebWhenStale } from '../../local/web-build.ts';

/** The engine of Chromium without windows of its own: a page costs it a third of the CPU time. */
export const headlessShell = '/usr/lib/chromium/chromium-headless-shell';

/** In the folder of the run: its appearance says that nothing is installed any more. */
export const isInstalledFile = (folder: string): string => join(folder, 'chromium-is-installed');

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const setup = async ({ config }: TestProject): Promise<void> => {
  const { TMPDIR } = config.env as { readonly TMPDIR: string };
  void install().finally(() => closeSync(openSync(isInstalledFile(TMPDIR), 'w')));
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..', '..'), progress: say });
};

const install = async (): Promise<void> => {
  // biome-ignore lint/style/noProcessEnv: the test run is a program of its own, and this is its one read
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH !== undefined) return;
  const { hasProgram } = inspectMachine(PATH);
  const missing = ['/usr/bin/chromium', headlessShell].filter((path) => !hasProgram(path));
  // Each call of apt-get updates the index of manual pages and more.
  if (missing.length === 2) await installed(['chromium', 'chromium-headless-shell'], PATH, say);
  await provideChromium({ CHROMIUM_PATH, PATH }, say);
  // Not every system has it; the tests are slower without.
  if (!hasProgram(headlessShell)) await installed(['chromium-headless-shell'], PATH, say);
};
