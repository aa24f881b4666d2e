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

/** The image makes the folder of a shared volume, because whose it is on Fargate is said by the image. */
export const sandboxImage = (target: string, sharedGuestPath: string | undefined): ContainerImage =>
  ContainerImage.fromAsset(inRepository('sandbox-task'), {
    target,
    ...(sharedGuestPath === undefined ? {} : { buildArgs: { SHARED_PATH: sharedGuestPath } }),
    platform: Platform.LINUX_ARM64,
    assetName: `sandbox-${target}`,
    ignoreMode: IgnoreMode.DOCKER,
    exclude: ['*', ...copied.map((path) => `!${path}`)],
  });
