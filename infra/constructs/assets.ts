/**
 * The assets of a deploy: the bundle of each handler, and the image of the sandbox.
 *
 * Without bundling (`aws:cdk:bundling-stacks`) an asset has a placeholder hash; only tests use that.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AssetHashType, DockerImage, IgnoreMode, type Stack } from 'aws-cdk-lib';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from '#shared/config/environment.ts';
import { inRepository } from './repository-path.ts';

/** Source maps contain its depth, not its name: every build has the same bytes. */
const outdir = inRepository(`node_modules/.cache/bundles-${process.pid}`);
let isBundled = false;

/** Once per process: a synth is one process. */
const bundleAll = (): void => {
  if (isBundled) return;
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  execFileSync(process.execPath, [inRepository('functions/bundle-all.ts'), outdir], { stdio: 'inherit' });
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
      // Never used: the local bundler always succeeds.
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
 * The files that the sandbox's Dockerfile copies, and no others. The server is bundled at synth, so that the image
 * matches the source. Docker is needed to deploy, never to synthesise.
 */
const copied = ['Dockerfile', 'dist', 'python-packages.txt'];

export const bundleSandbox = (stack: Stack): void => {
  if (stack.bundlingRequired) execFileSync(process.execPath, [inRepository('sandbox-task/bundle.ts')]);
};

export type SandboxImageProps = {
  readonly template: string;
  /** Absent: the Dockerfile's own. */
  readonly baseImage?: string | undefined;
  /** The stage of the Dockerfile. Absent: it has the template's name. */
  readonly target?: 'python' | 'node' | undefined;
  /** An operator's own, with its folder; a relative path begins at the repository. */
  readonly dockerfile?: string | undefined;
  readonly sharedGuestPath?: string | undefined;
};

/**
 * Layers that Fargate unpacks faster: up to 27 % off a start, the more the larger the image
 * (https://aws.amazon.com/blogs/containers/reducing-aws-fargate-startup-times-with-zstd-compressed-container-images/).
 * All of them, those of the base image too. Docker pushes them as they are if it keeps images in containerd's
 * store, and as gzip if it does not (https://docs.docker.com/build/exporters/image-registry/).
 */
const output = 'type=image,oci-mediatypes=true,compression=zstd,compression-level=3,force-compression=true';

/** The image creates the folder of a shared volume, because on Fargate the image decides its owner. */
export const sandboxImage = (props: SandboxImageProps): ContainerImage => {
  const { template, baseImage, dockerfile, sharedGuestPath } = props;
  const options = {
    buildArgs: {
      ...(baseImage === undefined ? {} : { NODE_IMAGE: baseImage }),
      ...(sharedGuestPath === undefined ? {} : { SHARED_PATH: sharedGuestPath }),
    },
    outputs: [output],
    platform: Platform.LINUX_ARM64,
    assetName: `sandbox-${template}`,
    ignoreMode: IgnoreMode.DOCKER,
  };
  if (dockerfile !== undefined)
    return ContainerImage.fromAsset(templateFolder(template, dockerfile), {
      ...options,
      target: 'sallyport-sandbox',
    });
  return ContainerImage.fromAsset(inRepository('sandbox-task'), {
    ...options,
    target: props.target ?? template,
    exclude: ['*', ...copied.map((path) => `!${path}`)],
  });
};

/** Written by a program of the sandbox's, which puts its stages behind those of the operator. */
const templateFolder = (template: string, dockerfile: string): string => {
  const folder = inRepository(`node_modules/.cache/templates/${template}`);
  execFileSync(process.execPath, [inRepository('sandbox-task/template-image.ts'), dockerfile, folder], {
    cwd: inRepository('.'),
  });
  return folder;
};
