/**
 * A handler as one file: bundled by esbuild, all of them at once for a synth, since what they share is then read once.
 *
 * Code that is not bundled (`aws:cdk:bundling-stacks`) has a made-up hash; only tests ask for that.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType, DockerImage, IgnoreMode, type Stack } from 'aws-cdk-lib';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { type BuildOptions, buildSync } from 'esbuild';
import { environments, type FunctionName } from '#shared/config/environment.ts';

export const inRepository = (path: string): string =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url));

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

/**
 * The sandbox's image as CDK sees it: a Dockerfile's target, and the files it copies and no others.
 *
 * The server's bundle is made at synth, so that what is deployed is what the source says. Docker is needed
 * to deploy, never to synthesise.
 */
const copied = ['Dockerfile', 'dist'];

export const bundleSandbox = (stack: Stack): void => {
  if (stack.bundlingRequired) execFileSync(process.execPath, [inRepository('sandbox-task/bundle.ts')]);
};

export type SandboxImageProps = {
  readonly template: string;
  /** Absent: the Dockerfile's own. */
  readonly baseImage?: string | undefined;
  readonly sharedGuestPath?: string | undefined;
};

/**
 * Layers that Fargate unpacks faster: up to 27 % off a start, the more the larger the image
 * (https://aws.amazon.com/blogs/containers/reducing-aws-fargate-startup-times-with-zstd-compressed-container-images/).
 * All of them, those of the base image too. Docker pushes them as they are if it keeps images in containerd's
 * store, and as gzip if it does not (https://docs.docker.com/build/exporters/image-registry/).
 */
const output = 'type=image,oci-mediatypes=true,compression=zstd,compression-level=3,force-compression=true';

/** The image makes the folder of a shared volume, because whose it is on Fargate is said by the image. */
export const sandboxImage = ({ template, baseImage, sharedGuestPath }: SandboxImageProps): ContainerImage =>
  ContainerImage.fromAsset(inRepository('sandbox-task'), {
    target: template,
    buildArgs: {
      ...(baseImage === undefined ? {} : { NODE_IMAGE: baseImage }),
      ...(sharedGuestPath === undefined ? {} : { SHARED_PATH: sharedGuestPath }),
    },
    outputs: [output],
    platform: Platform.LINUX_ARM64,
    assetName: `sandbox-${template}`,
    ignoreMode: IgnoreMode.DOCKER,
    exclude: ['*', ...copied.map((path) => `!${path}`)],
  });
