/**
 * The bundler: the container's two programs, each as one file that needs nothing but Node.
 *
 * `node sandbox-task/bundle.ts` writes `sandbox-task/dist/`, which the Dockerfile copies; the local host
 * calls `bundleSandbox` at its start.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const bundleSandbox = async (folder: string): Promise<void> => {
  await build({
    entryPoints: { server: source('./server/main.ts'), runner: source('./runner/main.ts') },
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
};

if (import.meta.main) await bundleSandbox(source('./dist'));
