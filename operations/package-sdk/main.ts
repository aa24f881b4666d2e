/**
 * The build of the client library: one module without dependencies, and its declarations.
 *
 * `npm pack` in `sdk/` calls it. An argument names another folder than `sdk/dist`.
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { makeDeclarations } from './declarations.ts';

const repository = join(import.meta.dirname, '..', '..');
const folder = join(repository, 'sdk');
const dist = process.argv[2] ?? join(folder, 'dist');

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
  lineLimit: 640,
  legalComments: 'none',
});
for (const { path, text } of makeDeclarations(join(folder, 'main.ts'))) {
  const target = join(dist, 'types', path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
}
await copyFile(join(repository, 'LICENSE'), join(dist, 'LICENSE'));
