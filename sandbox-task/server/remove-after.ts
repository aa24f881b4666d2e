/** Removes what a test has made when the test ends: a repetition of the test would meet it. */
import { rm } from 'node:fs/promises';
import { onTestFinished } from 'vitest';

export const removeAfter = (...paths: readonly string[]): void =>
  onTestFinished(async () => {
    for (const path of paths) await rm(path, { recursive: true, force: true });
  });
