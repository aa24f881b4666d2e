/**
 * The functions of the program, bundled as on AWS. Bundles need a third of the memory and of the starting time of the sources.
 *
 * A build takes about two seconds and is kept while its sources do not change. Its chunks are loaded when they are first used,
 * so the running program must keep the build.
 */
import { join, resolve } from 'node:path';
import type { FunctionName } from '#shared/config/environment.ts';
import { bundleTogether } from '../functions/bundle.ts';
import { cacheBuild } from '../sandbox-task/build-cache.ts';

const repository = resolve(import.meta.dirname, '..');

let kept: Promise<string> | undefined;

/** The module of each function that exports its handler. Found once: a process runs one state of the sources. */
export const bundledFunctions = async (): Promise<(name: FunctionName) => string> => {
  kept ??= cacheBuild({
    kept: join(repository, 'node_modules', '.functions'),
    sources: ['package-lock.json', 'functions', 'shared'].map((path) => join(repository, path)),
    isHeld: true,
    buildInto: bundleTogether,
  });
  const folder = await kept;
  return (name) => join(folder, name, 'index.mjs');
};
