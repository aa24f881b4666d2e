/** Run for each file of browser tests, unlike the modules that the files of a worker share. */
import { afterEach } from 'vitest';
import { closePages } from './browser.ts';

afterEach(closePages);
