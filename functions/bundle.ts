/**
 * The bundler of the functions: bundles `functions/<name>/handler.ts` with esbuild.
 *
 * For AWS each function is bundled alone and split: a cold start loads `index.mjs` and the chunks that it imports, and code
 * that is needed only sometimes (a provider's SDK, a rare action) is in other chunks. On one machine, where the functions share
 * a process, one build shares its chunks among all of them.
 */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { credentialsElsewhere, lighterLibraries, smallerCache } from './bundling/lighter-libraries.ts';

const inFunctions = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * An import of these into an ES module reads all that they export, and two of them then load the whole of `fetch`: they are asked
 * of the process instead.
 */
/** An alias is one of what is below its name, too. */
const costlyBuiltins = ['crypto', 'fs', 'fs/promises', 'http', 'https'];
const alias = Object.fromEntries(
  costlyBuiltins.flatMap((name) => {
    const module = `data:text/javascript,module.exports=process.getBuiltinModule("${name}")`;
    return [name, `node:${name}`].map((specifier) => [specifier, module]);
  }),
);

const options = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // The default order takes the CommonJS builds, which are 50 % larger and call `require`.
  mainFields: ['module', 'main'],
  // Some packages call `require` all the same, a few only on first use; an ES module has none. A short name could be that of a chunk's import.
  banner: {
    js: "import{createRequire as bundleRequire}from'node:module';const require=bundleRequire(import.meta.url);",
  },
  alias: { ...alias, ...credentialsElsewhere, ...smallerCache },
  plugins: [lighterLibraries],
  minify: true,
  legalComments: 'none',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  metafile: true,
  outExtension: { '.js': '.mjs' },
} as const satisfies BuildOptions;

const functionNames = Object.keys(environments) as readonly FunctionName[];

const entryOf = (name: FunctionName): string => inFunctions(`./${name}/handler.ts`);

/** Writes `index.mjs`, its chunks and their source maps into the folder. */
export const bundleHandler = (name: FunctionName, folder: string): Promise<Metafile> =>
  bundleProgram(
    `import './functions/bundling/source-positions.ts'; export * from './functions/${name}/handler.ts';`,
    folder,
  );

/** Writes a folder for each function. */
export const bundleHandlers = async (folder: string): Promise<ReadonlyMap<FunctionName, Metafile>> =>
  new Map(
    await Promise.all(
      functionNames.map(async (name) => [name, await bundleHandler(name, `${folder}/${name}`)] as const),
    ),
  );

/** Writes a program whose imports are found from the repository's root. */
export const bundleProgram = (contents: string, folder: string): Promise<Metafile> =>
  bundleSplit({
    stdin: { contents, resolveDir: inFunctions('..'), sourcefile: 'index.js' },
    outdir: folder,
    entryNames: 'index',
  });

const bundleSplit = async (own: BuildOptions): Promise<Metafile> => {
  const { metafile } = await build({ ...options, ...own, splitting: true, metafile: true });
  return metafile;
};

/**
 * Writes `<name>/index.mjs` for each function, and the chunks that they share.
 *
 * One machine loads the entry of a function once for each execution environment, so that it holds the handler alone: what a handler
 * imports is imported by a second entry as well, and therefore is in chunks, which are loaded once.
 */
export const bundleTogether = async (folder: string): Promise<void> => {
  const entries = functionNames.flatMap((name) => [
    [`${name}/index`, entryOf(name)],
    [`${name}/imports`, `${importsOf}${entryOf(name)}`],
  ]);
  await build({
    ...options,
    splitting: true,
    entryPoints: Object.fromEntries(entries),
    plugins: [...options.plugins, importsOfHandlers],
    outdir: folder,
  });
};

const importsOf = 'imports-of:';

const importsOfHandlers: Plugin = {
  name: importsOf,
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^imports-of:/ }, ({ path }) => ({
      path: path.slice(importsOf.length),
      namespace: importsOf,
    }));
    onLoad({ filter: /^/, namespace: importsOf }, async ({ path }) => {
      const specifiers = ownImports(await readFile(path, 'utf8'));
      const lines = specifiers.map((specifier, index) => `export * as part${index} from '${specifier}';`);
      return { contents: lines.join('\n'), resolveDir: dirname(path), loader: 'ts' };
    });
  },
};

/** Libraries are left out: all of their exports would be kept, where a handler uses some. */
const ownImports = (source: string): readonly string[] =>
  [...source.matchAll(/^import (?!type )[^;]*? from '([.#][^']*)';$/gm)].flatMap(
    ([, specifier = '']) => specifier,
  );
