/**
 * A handler as one file: bundled by esbuild, all of them at once for a synth, since what they share is then read once.
 *
 * Code that is not bundled (`aws:cdk:bundling-stacks`) has a made-up hash; only tests ask for that.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { type BuildOptions, buildSync } from 'esbuild';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { inRepository } from './repository.ts';

const options: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // The default order takes the CommonJS builds, which are half as large again and call `require`.
  mainFields: ['module', 'main'],
  // Some packages call `require` all the same, a few only when they are first used; an ES module has none.
  banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  minify: true,
  keepNames: true,
  legalComments: 'none',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
};

const entryOf = (name: string): string => inRepository(`functions/${name}/handler.ts`);

/** Writes `index.mjs` and its source map into the folder. */
export const bundleHandler = (name: FunctionName, folder: string): void => {
  buildSync({
    ...options,
    entryPoints: [entryOf(name)],
    outfile: `${folder}/index.mjs`,
  });
};

/** Its depth stands in the source maps, its name does not: whoever builds, and when, the same bytes come out. */
const outdir = inRepository(`node_modules/.cache/bundles-${process.pid}`);
let isBundled = false;

/** Kept for the rest of the process: a synth is one, and reads its sources once. */
const bundleAll = (): void => {
  if (isBundled) return;
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  const entryPoints = Object.fromEntries(
    Object.keys(environments).map((name) => [`${name}/index`, entryOf(name)]),
  );
  buildSync({ ...options, entryPoints, outdir, outExtension: { '.js': '.mjs' } });
  isBundled = true;
};

const writeBundle = (name: FunctionName, folder: string): void => {
  bundleAll();
  cpSync(join(outdir, name), folder, { recursive: true });
};

export const bundledHandler = (name: FunctionName): AssetCode =>
  Code.fromAsset(inRepository(`functions/${name}`), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never run: the local bundler always answers.
      image: DockerImage.fromRegistry('scratch'),
      local: {
        tryBundle: (folder) => {
          writeBundle(name, folder);
          return true;
        },
      },
    },
  });
