/**
 * The client library as its users run it: one module without dependencies, parts that it loads when they are used, and its
 * declarations.
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { makeDeclarations } from './declarations.ts';

const entry = inRepository('sdk/main.ts');

/** Modules of the sources that `main.js` imports when they are used. */
const parts = ['caller-tools', 'conversation-export'];

const options: BuildOptions = {
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
};

const partsApart: Plugin = {
  name: 'parts-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[.][/][\w-]+[.]ts$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: path.replace(/[.]ts$/, '.js'), external: true } : undefined,
    );
  },
};

/** Of the modules whose values `main.js` exports there is one copy: an error is of one class. */
const takenFromMain: Plugin = {
  name: 'taken-from-main',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[.][/](errors|routes)[.]ts$/ }, () => ({ path: './main.js', external: true }));
  },
};

/** Writes into the folder `main.js`, its parts, `types` and the licence. Its former content is removed. */
export const buildLibrary = async (dist: string): Promise<void> => {
  await rm(dist, { recursive: true, force: true });
  await build({ ...options, entryPoints: [entry], outfile: join(dist, 'main.js'), plugins: [partsApart] });
  const entryPoints = parts.map((part) => inRepository(`sdk/${part}.ts`));
  await build({ ...options, entryPoints, outdir: dist, plugins: [takenFromMain] });
  for (const { path, text } of makeDeclarations(entry)) {
    const target = join(dist, 'types', path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  await copyFile(inRepository('LICENSE'), join(dist, 'LICENSE'));
};
