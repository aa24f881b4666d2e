/**
 * What functions may do with the table: items by key in the partitions they work on, one index by name, and
 * never a scan. Who has no business with credentials can not make one, whatever its code is made to do.
 *
 * IAM knows an item by the start of its partition key alone
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html).
 */
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { all, may, type Need, type Right } from './permission.ts';
import type { PlatformData } from './platform-data.ts';
import { usingKey } from './platform-key.ts';

type TableVariables = { readonly TABLE_NAME: string };
type KeptTable = Pick<PlatformData, 'encryptionKey'> & { readonly table: ITableV2 };

/** How partition keys begin, by what lies under them (`shared/adapters/aws/dynamo/table.ts`). */
const partitions = {
  work: [
    'APPROVERS',
    'CONNECTION#*',
    'DEPLOYMENT',
    'HISTORY#*',
    'SLOTS#*',
    'PROJECT#*',
    'SESSION#*',
    'WAITING',
    'WORKSPACE#*',
  ],
  schedules: ['SCHEDULE#*'],
  calls: ['CALL#*'],
  rates: ['RATE#*'],
  audit: ['AUDIT#*'],
  tokens: ['TOKEN#*'],
  tokenIds: ['TOKENID#*'],
  tickets: ['TICKET#*'],
  previews: ['PREVIEW#*'],
  webhooks: ['NOTIFY'],
  notices: ['NOTICE#*'],
  deliveries: ['WEBHOOK#*'],
  webhookSecrets: ['WEBHOOKSECRET#*'],
} as const;
type Partition = keyof typeof partitions;

const readActions = ['BatchGetItem', 'GetItem', 'Query'];
const itemActions = [...readActions, 'ConditionCheckItem', 'DeleteItem', 'PutItem', 'UpdateItem'];

type Access = { readonly actions: readonly string[]; readonly on: readonly Partition[] };

const right = ({ table }: KeptTable, { actions, on }: Access): Right => ({
  actions: actions.map((action) => `dynamodb:${action}`).sort(),
  resources: [table.tableArn],
  conditions: startingWith(on.flatMap((partition) => partitions[partition]).sort()),
});

/** Of a request that names several items, every one. */
const startingWith = (prefixes: readonly string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes },
});

/** DynamoDB uses a key of ours in the caller's name (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html). */
const decrypting = ['Decrypt', 'DescribeKey'];
const encrypting = [...decrypting, 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];

const using = (
  kept: KeptTable,
  { rights, key }: { readonly rights: readonly Right[]; readonly key: readonly string[] },
): Need<TableVariables> => ({
  variables: { TABLE_NAME: kept.table.tableName },
  statements: [...rights, ...usingKey(kept.encryptionKey, { service: 'dynamodb', actions: key })],
});

export type Reach = {
  readonly on: readonly Partition[];
  /** Read as well, also in one request with the others. */
  readonly reading?: readonly Partition[];
  /** Written, and never changed or deleted. */
  readonly appending?: readonly Partition[];
  /** Read and deleted, and never made. */
  readonly deleting?: readonly Partition[];
};

/** To read and to write items. A transaction is authorised as the writes it is made of. */
export const workingOn = (
  kept: KeptTable,
  { on, reading = [], appending = [], deleting = [] }: Reach,
): Need<TableVariables> =>
  using(kept, {
    rights: [
      right(kept, { actions: itemActions, on }),
      ...(reading.length === 0 ? [] : [right(kept, { actions: readActions, on: [...on, ...reading] })]),
      ...(appending.length === 0 ? [] : [right(kept, { actions: ['PutItem'], on: [...on, ...appending] })]),
      ...(deleting.length === 0 ? [] : [right(kept, { actions: ['DeleteItem', 'GetItem'], on: deleting })]),
    ],
    key: encrypting,
  });

export const readingFrom = (kept: KeptTable, { on }: Reach): Need<TableVariables> =>
  using(kept, { rights: [right(kept, { actions: readActions, on })], key: decrypting });

/** To delete what is left of something, many items at once. */
export const deletingMany = (kept: KeptTable, { on }: Reach): Need<object> =>
  may(right(kept, { actions: ['BatchWriteItem'], on }));

/** As `workingOn`, and to query one index. */
export const workingOnIndexed = (
  kept: KeptTable,
  index: 'due' | 'owner',
  reach: Reach,
): Need<TableVariables> =>
  all(
    workingOn(kept, reach),
    may({
      actions: ['dynamodb:Query'],
      resources: [`${kept.table.tableArn}/index/${index}`],
      conditions: startingWith([`${index.toUpperCase()}#*`]),
    }),
  );

/** To read the webhooks, and to write notices for them. */
export const tellingWebhooks = (kept: KeptTable): Need<object> =>
  may(
    right(kept, { actions: ['Query'], on: ['webhooks'] }),
    right(kept, { actions: ['PutItem'], on: ['notices'] }),
  );

/**
 * To make, change and remove webhooks, to show their deliveries, and to say that one has something to send. A secret is
 * written, and never read.
 */
export const keepingWebhooks = (kept: KeptTable): Need<object> =>
  may(
    right(kept, { actions: itemActions, on: ['webhooks'] }),
    right(kept, { actions: ['Query', 'UpdateItem'], on: ['deliveries'] }),
    right(kept, { actions: ['DeleteItem', 'PutItem'], on: ['webhookSecrets'] }),
  );

/** To remove those of a project that was deleted. */
export const removingWebhooks = (kept: KeptTable): Need<object> =>
  may(
    right(kept, { actions: ['DeleteItem', 'UpdateItem'], on: ['webhooks'] }),
    right(kept, { actions: ['DeleteItem'], on: ['webhookSecrets'] }),
  );

/** To send them: alone to read their secrets. */
export const sendingWebhooks = (kept: KeptTable): Need<TableVariables> => {
  const own: Reach = {
    on: ['webhooks', 'notices', 'deliveries'],
    reading: ['webhookSecrets'],
    appending: ['audit'],
  };
  return all(workingOnIndexed(kept, 'due', own), deletingMany(kept, { on: ['deliveries'] }));
};

/** To tell who asks: a ticket is deleted, a token is read. */
export const checkingCredentials = (kept: KeptTable): Need<TableVariables> =>
  using(kept, {
    rights: [
      right(kept, { actions: ['DeleteItem'], on: ['tickets'] }),
      right(kept, { actions: ['GetItem'], on: ['tokens'] }),
    ],
    key: encrypting,
  });
