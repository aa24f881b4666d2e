/**
 * The inventory of a deployment: its stacks, and the resources that stacks retain when they are deleted.
 *
 * It is read before anything is deleted, since afterwards no stack names its resources. Retained resources are also found
 * by the tags of CloudFormation, so a second run finds them without stacks; a resource belongs to the deployment only
 * with both the tag of the deployment and that of one of its stacks.
 */

import { cloudFrontRegion } from '../../infra/settings.ts';
import { type Aws, findStack, type Held, resourcesOf, stackNames } from './aws.ts';
import type { Target } from './command.ts';

export type Found = { readonly name: string; readonly aws: Aws; readonly held: readonly Held[] };

export type Inventory = {
  /** In the order of their deletion. */
  readonly stacks: readonly Found[];
  /** Resources of these types in all stacks. */
  readonly ofType: (...types: readonly string[]) => readonly Held[];
};

export const takeInventory = async ({ aws, settings }: Target): Promise<Inventory> => {
  const stacks: Found[] = [];
  const addresses = [
    ...stackNames.toReversed().map((name) => ({ name, at: aws })),
    { name: 'firewall', at: aws.in(cloudFrontRegion) },
  ];
  for (const { name, at } of addresses) {
    const stack = await findStack(at, `${settings.deployment}-${name}`);
    if (stack !== undefined)
      stacks.push({ name: stack.name, aws: at, held: await resourcesOf(at, stack.name) });
  }
  return {
    stacks,
    ofType: (...types) => stacks.flatMap(({ held }) => held.filter(({ type }) => types.includes(type))),
  };
};

export type Retained = {
  readonly tables: readonly string[];
  readonly buckets: readonly string[];
  readonly secrets: readonly string[];
  readonly keys: readonly string[];
};

type Tagged = { readonly ResourceTagMappingList: readonly { readonly ResourceARN: string }[] };

const resourceTypes = ['dynamodb:table', 's3', 'secretsmanager:secret', 'kms:key'];

export const findRetained = async (
  aws: Aws,
  deployment: string,
  { ofType }: Inventory,
): Promise<Retained> => {
  const stacks = stackNames.map((name) => `${deployment}-${name}`).join(',');
  const { ResourceTagMappingList: tagged } = await aws.ask<Tagged>(
    'resourcegroupstaggingapi',
    'get-resources',
    '--tag-filters',
    `Key=deployment,Values=${deployment}`,
    `Key=aws:cloudformation:stack-name,Values=${stacks}`,
    '--resource-type-filters',
    ...resourceTypes,
  );
  const named = (pattern: RegExp): readonly string[] =>
    tagged.flatMap(({ ResourceARN }) => pattern.exec(ResourceARN)?.[1] ?? []);
  const held = (...types: readonly string[]): readonly string[] =>
    ofType(...types).map(({ physicalId }) => physicalId);
  const each = (...ids: readonly (readonly string[])[]): readonly string[] => [...new Set(ids.flat())];
  return {
    tables: each(held('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'), named(/:table\/([^/]+)$/)),
    buckets: each(held('AWS::S3::Bucket'), named(/^arn:[a-z-]+:s3:::([^/]+)$/)),
    secrets: each(held('AWS::SecretsManager::Secret'), named(/^(arn:[a-z-]+:secretsmanager:.+)$/)),
    keys: each(held('AWS::KMS::Key'), named(/:key\/([^/]+)$/)),
  };
};

/** The other buckets hold web pages and access logs, which are not data of users. */
export const isData = (bucket: string): boolean => /workspaces|seals/.test(bucket);
