/** Setup of the browser tests: builds the web app, and installs Chromium by apt when it is missing. */
import { resolve } from 'node:path';
import { inspectMachine, provision } from '../../local/system-programs.ts';
import { buildWebWhenStale } from '../../local/web-build.ts';

/** The engine of Chromium without windows of its own: a page costs it a third of the CPU time. */
export const headlessShell = '/usr/lib/chromium/chromium-headless-shell';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const setup = async (): Promise<void> => {
  // biome-ignore lint/style/noProcessEnv: the test run is a program of its own, and this is its one read
  const { CHROMIUM_PATH, PATH: searchPath = '' } = process.env;
  const { hasProgram, isRoot } = inspectMachine(searchPath);
  const install = (name: string): Promise<void> => provision({ kind: 'install', packages: [name] }, say);
  const canInstall = isRoot && hasProgram('/usr/bin/apt-get');
  if (CHROMIUM_PATH === undefined && !hasProgram('/usr/bin/chromium')) {
    if (canInstall) await install('chromium');
    else say('The browser tests need Chromium: install it, or name one with CHROMIUM_PATH');
  }
  // Not every system has it; the tests are slower without.
  if (CHROMIUM_PATH === undefined && canInstall && !hasProgram(headlessShell))
    await install('chromium-headless-shell');
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..', '..'), progress: say });
};
