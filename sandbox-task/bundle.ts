/**
 * The bundler: the container's programs, each as one file that needs nothing but Node or Python, and the system
 * call filters.
 *
 * `node sandbox-task/bundle.ts` writes `sandbox-task/dist/`, which the Dockerfile copies; the local host
 * calls `bundleSandbox` at its start.
 */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { machineNames, seccompFilter } from './confinement/filter.ts';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const bundleSandbox = async (folder: string): Promise<void> => {
  await build({
    entryPoints: {
      server: source('./server/main.ts'),
      runner: source('./runner/main.ts'),
      'node-interpreter': source('./interpreters/node/main.ts'),
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    keepNames: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  await copyFile(source('./interpreters/python.py'), join(folder, 'python-interpreter.py'));
  await copyFile(source('./confinement/confine.py'), join(folder, 'confine.py'));
  for (const architecture of ['x64', 'arm64'] as const)
    await writeFile(filterFile(folder, architecture), seccompFilter(architecture));
};

/** Named as confine.py looks for it. */
export const filterFile = (folder: string, processor: string): string => {
  const machine = machineNames.get(processor);
  if (machine === undefined) throw new Error(`there is no system call filter for ${processor} processors`);
  return join(folder, `user-${machine}.bpf`);
};

if (import.meta.main) await bundleSandbox(source('./dist'));
