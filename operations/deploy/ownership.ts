/**
 * Data that the stacks of a deployment hold or have retained, by its owner: the deployment that is destroyed, or one of the same name
 * before it, whose data `destroy --keep-data` has kept. Nothing adopts that data, and a plain destroy leaves it.
 *
 * Without stacks, as after a failure, data is found by the tags of CloudFormation: a resource belongs to the deployment only with both
 * the tag of the deployment and that of one of its stacks. Data of several data stacks then has no known owner.
 */
import { type Aws, stackNames } from './aws.ts';
import type { Target } from './command.ts';
import type { Inventory } from './inventory.ts';
import { type ProjectSecret, projectSecrets } from './retained-data.ts';

const kinds = ['tables', 'buckets', 'secrets', 'keys'] as const;
type Kind = (typeof kinds)[number];

export type Retained = Readonly<Record<Kind, readonly string[]>>;

export type Owned = {
  readonly own: Retained;
  /** Of a deployment before, or of an unknown one of several. */
  readonly earlier: Retained;
};

type Resource = {
  readonly kind: Kind;
  readonly id: string;
  /** The ARN of the data stack that made it, empty where no tag says it; absent: another stack made it. */
  readonly dataStack?: string;
};

const typesOf: Readonly<Record<Kind, readonly string[]>> = {
  tables: ['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'],
  buckets: ['AWS::S3::Bucket'],
  secrets: ['AWS::SecretsManager::Secret'],
  keys: ['AWS::KMS::Key'],
};

const idsInArns: Readonly<Record<Kind, RegExp>> = {
  tables: /:table\/([^/]+)$/,
  buckets: /^arn:[a-z-]+:s3:::([^/]+)$/,
  secrets: /^(arn:[a-z-]+:secretsmanager:.+)$/,
  keys: /:key\/([^/]+)$/,
};

export const findOwned = async ({ aws, settings }: Target, inventory: Inventory): Promise<Owned> => {
  const { deployment } = settings;
  const held = kinds.flatMap((kind) =>
    inventory.ofType(...typesOf[kind]).map(({ physicalId: id }): Resource => ({ kind, id })),
  );
  const isHeld = ({ kind, id }: Resource): boolean => held.some((one) => one.kind === kind && one.id === id);
  const rest = (await taggedResources(aws, deployment)).filter((resource) => !isHeld(resource));
  const living: Resource[] = [];
  for (const resource of rest) if (!(await isAlreadyDeleted(aws, resource))) living.push(resource);
  const standing = inventory.stacks.find(({ name }) => name === `${deployment}-data`);
  const makers = new Set(living.flatMap(({ dataStack }) => dataStack ?? []));
  const isOfOne = standing === undefined && makers.size <= 1;
  const isEarlier = ({ dataStack }: Resource): boolean => !isOfOne && dataStack !== undefined;
  const isEarlierSecret = ({ createdAt }: ProjectSecret): boolean =>
    standing === undefined ? !isOfOne : createdAt < (standing.createdAt ?? 0);
  const bundles = await projectSecrets(aws, deployment);
  const secret = ({ arn: id }: ProjectSecret): Resource => ({ kind: 'secrets', id });
  return {
    own: byKind([
      ...held,
      ...living.filter((one) => !isEarlier(one)),
      ...bundles.filter((one) => !isEarlierSecret(one)).map(secret),
    ]),
    earlier: byKind([...living.filter(isEarlier), ...bundles.filter(isEarlierSecret).map(secret)]),
  };
};

const byKind = (resources: readonly Resource[]): Retained => {
  const of = (kind: Kind): readonly string[] => [
    ...new Set(resources.flatMap((one) => (one.kind === kind ? [one.id] : []))),
  ];
  return { tables: of('tables'), buckets: of('buckets'), secrets: of('secrets'), keys: of('keys') };
};

export const noData: Retained = byKind([]);

export const joined = (one: Retained, other: Retained): Retained =>
  byKind([...resourcesIn(one), ...resourcesIn(other)]);

const resourcesIn = (retained: Retained): readonly Resource[] =>
  kinds.flatMap((kind) => retained[kind].map((id) => ({ kind, id })));

/** A line for each: `table <name>`. */
export const linesOf = (retained: Retained): readonly string[] =>
  resourcesIn(retained).map(({ kind, id }) => `${kind.slice(0, -1)} ${id}`);

type Tagged = {
  readonly ResourceTagMappingList: readonly {
    readonly ResourceARN: string;
    readonly Tags?: readonly { readonly Key: string; readonly Value: string }[];
  }[];
};

const taggedResources = async (aws: Aws, deployment: string): Promise<readonly Resource[]> => {
  const stacks = stackNames.map((name) => `${deployment}-${name}`).join(',');
  const { ResourceTagMappingList: tagged } = await aws.ask<Tagged>(
    ...['resourcegroupstaggingapi', 'get-resources', '--tag-filters', `Key=deployment,Values=${deployment}`],
    ...[`Key=aws:cloudformation:stack-name,Values=${stacks}`, '--resource-type-filters'],
    ...['dynamodb:table', 's3', 'secretsmanager:secret', 'kms:key'],
  );
  return tagged.flatMap(({ ResourceARN, Tags = [] }) => {
    const tag = (name: string): string | undefined =>
      Tags.find(({ Key }) => Key === `aws:cloudformation:${name}`)?.Value;
    const isOfData = [undefined, `${deployment}-data`].includes(tag('stack-name'));
    return kinds.flatMap((kind): readonly Resource[] => {
      const id = idsInArns[kind].exec(ResourceARN)?.[1];
      return id === undefined ? [] : [{ kind, id, ...(isOfData && { dataStack: tag('stack-id') ?? '' }) }];
    });
  });
};

type DescribedKey = { readonly KeyMetadata: { readonly KeyState: string } };

/** A deleted key has its tags for the days until its end. */
const isAlreadyDeleted = async (aws: Aws, { kind, id }: Resource): Promise<boolean> => {
  if (kind !== 'keys') return false;
  const unknown = ['NotFoundException', 'AccessDeniedException'];
  const key = await aws.find<DescribedKey>(unknown, 'kms', 'describe-key', '--key-id', id);
  return key?.KeyMetadata.KeyState === 'PendingDeletion';
};
