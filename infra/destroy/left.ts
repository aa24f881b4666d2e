/**
 * What stacks keep when they are deleted, found by what the stacks said they hold and by the tags that CloudFormation put
 * on it: so a second run finds it too, when no stack is there to be asked.
 *
 * Only what carries both the name of the deployment and that of one of its stacks is ours.
 */
import type { Aws } from '../deploy/aws.ts';
import { stackNames } from '../deploy/stacks.ts';
import type { Inventory } from './inventory.ts';

export type Left = {
  readonly tables: readonly string[];
  readonly buckets: readonly string[];
  readonly secrets: readonly string[];
  readonly keys: readonly string[];
};

type Tagged = { readonly ResourceTagMappingList: readonly { readonly ResourceARN: string }[] };

const resourceTypes = ['dynamodb:table', 's3', 'secretsmanager:secret', 'kms:key'];

export const findLeft = async (aws: Aws, deployment: string, { ofType }: Inventory): Promise<Left> => {
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

/** Pages and access logs are no data of users. */
export const isData = (bucket: string): boolean => bucket.includes('workspaces');
