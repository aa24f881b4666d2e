/**
 * The client library as its users run it: one module without dependencies, and its declarations.
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { makeDeclarations } from './declarations.ts';

const entry = inRepository('sdk/main.ts');

/** Writes into the folder `main.js`, `types` and the licence. Its former content is removed. */
export const buildLibrary = async (dist: string): Promise<void> => {
  await rm(dist, { recursive: true, force: true });
  await build({
    entryPoints: [entry],
    outfile: join(dist, 'main.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    // The syntax of Node 20 and of browsers of its time. Names stay readable in a stack.
    target: 'es2022',
    minifyWhitespace: true,
    minifySyntax: true,
    // An uncaught error prints the line that threw it.
    lineLimit: 1024,
    legalComments: 'none',
  });
  for (const { path, text } of makeDeclarations(entry)) {
    const target = join(dist, 'types', path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  await copyFile(inRepository('LICENSE'), join(dist, 'LICENSE'));
};
