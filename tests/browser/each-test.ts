/** Run for each file of browser tests, unlike the modules that the files of a worker share. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll } from 'vitest';
import { closePages } from './browser.ts';
import { isInstalledFile } from './setup.ts';

/** A ceiling: with a slow network the packages of Chromium take minutes. */
const installMsMax = 1_200_000;

beforeAll(async () => {
  while (!existsSync(isInstalledFile(tmpdir()))) await delay(200);
}, installMsMax);
afterEach(closePages);
