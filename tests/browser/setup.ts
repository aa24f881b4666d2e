/** Setup of the browser tests: builds the web app, and installs Chromium by apt when it is missing. */
import { resolve } from 'node:path';
import { installed, provideChromium } from '../../local/chromium.ts';
import { inspectMachine } from '../../local/system-programs.ts';
import { buildWebWhenStale } from '../../local/web-build.ts';

/** The engine of Chromium without windows of its own: a page costs it a third of the CPU time. */
export const headlessShell = '/usr/lib/chromium/chromium-headless-shell';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const setup = async (): Promise<void> => {
  // biome-ignore lint/style/noProcessEnv: the test run is a program of its own, and this is its one read
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  await provideChromium({ CHROMIUM_PATH, PATH }, say);
  // Not every system has it; the tests are slower without.
  if (CHROMIUM_PATH === undefined && !inspectMachine(PATH).hasProgram(headlessShell))
    await installed('chromium-headless-shell', PATH, say);
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..', '..'), progress: say });
};
