/**
 * The client library as its users run it: one module without dependencies, and its declarations.
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { makeDeclarations } from './declarations.ts';
import { repository } from './repository.ts';

const folder = join(repository, 'sdk');

/** Writes into the folder `main.js`, `types` and the licence. Its former content is removed. */
export const buildLibrary = async (dist: string): Promise<void> => {
  await rm(dist, { recursive: true, force: true });
  await build({
    entryPoints: [join(folder, 'main.ts')],
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
  for (const { path, text } of makeDeclarations(join(folder, 'main.ts'))) {
    const target = join(dist, 'types', path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  await copyFile(join(repository, 'LICENSE'), join(dist, 'LICENSE'));
};
