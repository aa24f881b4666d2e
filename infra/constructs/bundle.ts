/**
 * A handler as one file: bundled by esbuild inside this process, since a process for each takes most of a synth.
 *
 * Code that is not bundled (`aws:cdk:bundling-stacks`) has a made-up hash; only tests ask for that.
 */
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { type BuildOptions, buildSync } from 'esbuild';
import type { FunctionName } from '#shared/config/environment.ts';
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

/** Writes `index.mjs` and its source map into the folder. */
export const bundleHandler = (name: FunctionName, folder: string): void => {
  buildSync({
    ...options,
    entryPoints: [inRepository(`functions/${name}/handler.ts`)],
    outfile: `${folder}/index.mjs`,
  });
};

export const bundledHandler = (name: FunctionName): AssetCode =>
  Code.fromAsset(inRepository(`functions/${name}`), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never run: the local bundler always answers.
      image: DockerImage.fromRegistry('scratch'),
      local: {
        tryBundle: (folder) => {
          bundleHandler(name, folder);
          return true;
        },
      },
    },
  });
