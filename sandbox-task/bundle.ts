/**
 * The bundler: the container's programs, each as one file that needs nothing but Node or Python.
 *
 * `node sandbox-task/bundle.ts` writes `sandbox-task/dist/`, which the Dockerfile copies; the local host
 * calls `bundleSandbox` at its start.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

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
};

if (import.meta.main) await bundleSandbox(source('./dist'));
