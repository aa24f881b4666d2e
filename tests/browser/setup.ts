/** What the browser tests need besides: the built web app, and a Chromium, by apt as root when there is none. */
import { resolve } from 'node:path';
import { inspectMachine, provision } from '../../local/system-programs.ts';
import { buildWebWhenStale } from '../../local/web-build.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const setup = async (): Promise<void> => {
  // biome-ignore lint/style/noProcessEnv: the test run is a program of its own, and this is its one read
  const { CHROMIUM_PATH, PATH: searchPath = '' } = process.env;
  const { hasProgram, isRoot } = inspectMachine(searchPath);
  if (CHROMIUM_PATH === undefined && !hasProgram('/usr/bin/chromium')) {
    if (isRoot && hasProgram('/usr/bin/apt-get'))
      await provision({ kind: 'install', packages: ['chromium'] }, say);
    else say('The browser tests need Chromium: install it, or name one with CHROMIUM_PATH');
  }
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..', '..'), progress: say });
};
