/**
 * The sandbox's image as CDK sees it: a Dockerfile's target, and the files it copies and no others.
 *
 * The server's bundle is made at synth, so that what is deployed is what the source says. Docker is needed
 * to deploy, never to synthesise.
 */
import { execFileSync } from 'node:child_process';
import { IgnoreMode, type Stack } from 'aws-cdk-lib';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import { inRepository } from './repository.ts';

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
