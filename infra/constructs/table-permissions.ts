/**
 * Permissions on the table: items by key in the partitions of a function's work, queries of one index, never a scan.
 * A function that has no business with credentials cannot create one, even when its code is subverted.
 *
 * IAM distinguishes items by the beginning of their partition key only
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html).
 */
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { combine, type Permission, permit, type Statement } from './permission.ts';
import type { PlatformData } from './platform-data.ts';
import { useKey } from './platform-key.ts';

type TableVariables = { readonly TABLE_NAME: string };
type PlatformTable = Pick<PlatformData, 'encryptionKey'> & { readonly table: ITableV2 };

/** Beginnings of partition keys, by the kind of their items (`shared/adapters/aws/dynamo/table.ts`). */
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
  connections: ['CONNECTION#*'],
  workspaces: ['WORKSPACE#*'],
  sessions: ['SESSION#*'],
  projects: ['PROJECT#*'],
  schedules: ['SCHEDULE#*'],
  calls: ['CALL#*'],
  rates: ['RATE#*'],
  audit: ['AUDIT#*'],
  tokens: ['TOKEN#*'],
  tokenIds: ['TOKENID#*'],
  tickets: ['TICKET#*'],
  previews: ['PREVIEW#*'],
  fileLinks: ['LINK#*'],
  /** Registrations, codes and grants of clients that people connect. */
  oauth: ['OAUTH#*'],
  webhooks: ['NOTIFY'],
  notices: ['NOTICE#*'],
  deliveries: ['WEBHOOK#*'],
  webhookSecrets: ['WEBHOOKSECRET#*'],
} as const;
type Partition = keyof typeof partitions;

const readActions = ['BatchGetItem', 'GetItem', 'Query'];
const itemActions = [...readActions, 'ConditionCheckItem', 'DeleteItem', 'PutItem', 'UpdateItem'];

type Action = { readonly actions: readonly string[]; readonly on: readonly Partition[] };

const statement = ({ table }: PlatformTable, { actions, on }: Action): Statement => ({
  actions: actions.map((action) => `dynamodb:${action}`).sort(),
  resources: [table.tableArn],
  conditions: startingWith(on.flatMap((partition) => partitions[partition]).sort()),
});

/** Every item of a request that names several. */
const startingWith = (prefixes: readonly string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes },
});

/** DynamoDB uses the platform's key with the caller's role (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html). */
const decrypt = ['Decrypt', 'DescribeKey'];
const encrypt = [...decrypt, 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];

const onTable = (
  platform: PlatformTable,
  key: readonly string[],
  statements: readonly Statement[],
): Permission<TableVariables> => ({
  variables: { TABLE_NAME: platform.table.tableName },
  statements: [...statements, ...useKey(platform.encryptionKey, { service: 'dynamodb', actions: key })],
});

type Access = {
  /** Read and written. */
  readonly on: readonly Partition[];
  /** Also read, possibly in one request with the others. */
  readonly read?: readonly Partition[];
  /** Also created, and never changed or deleted. */
  readonly append?: readonly Partition[];
  /** Also read and deleted, and never created. */
  readonly delete?: readonly Partition[];
};

/** To read and to write items. A transaction is authorised as the writes of which it consists. */
const readWrite = (platform: PlatformTable, access: Access): Permission<TableVariables> => {
  const { on, read = [], append = [], delete: deleted = [] } = access;
  return onTable(platform, encrypt, [
    statement(platform, { actions: itemActions, on }),
    ...(read.length === 0 ? [] : [statement(platform, { actions: readActions, on: [...on, ...read] })]),
    ...(append.length === 0 ? [] : [statement(platform, { actions: ['PutItem'], on: [...on, ...append] })]),
    ...(deleted.length === 0
      ? []
      : [statement(platform, { actions: ['DeleteItem', 'GetItem'], on: deleted })]),
  ]);
};

const queryIndex = ({ table }: PlatformTable, index: 'due' | 'owner'): Permission<object> =>
  permit({
    actions: ['dynamodb:Query'],
    resources: [`${table.tableArn}/index/${index}`],
    conditions: startingWith([`${index.toUpperCase()}#*`]),
  });

/**
 * To delete the rest of something, or to copy a conversation, many items in one request. The rest of a session includes its
 * pointer in its project.
 */
const batchWrite = (platform: PlatformTable, ...on: readonly Partition[]): Permission<object> =>
  permit(statement(platform, { actions: ['BatchWriteItem'], on }));

/** The items that each function works on. */
export const itemPermissions = (platform: PlatformTable) => {
  const write = (access: Access) => readWrite(platform, access);
  const query = (index: 'due' | 'owner') => queryIndex(platform, index);
  const batch = (...on: readonly Partition[]) => batchWrite(platform, ...on);
  return {
    /** A rule decides a call without a person, and the record has it. */
    turn: write({ on: ['work'], append: ['audit'] }),
    taskEvents: write({ on: ['work'] }),
    /** Empties deleted projects, also of their tokens and schedules, and records it. */
    janitor: combine(
      write({
        on: ['work', 'schedules'],
        read: ['audit'],
        append: ['audit'],
        delete: ['tokens', 'tokenIds'],
      }),
      query('due'),
      query('owner'),
      batch('projects', 'sessions'),
    ),
    /** Identifies a caller: marks a ticket as used, reads a token. */
    authorizer: onTable(platform, encrypt, [
      statement(platform, { actions: ['UpdateItem'], on: ['tickets'] }),
      statement(platform, { actions: ['GetItem'], on: ['tokens'] }),
    ]),
    /** Reads the sign-in of a browser, whose end may have missed the connection, and marks a subscriber as greeted. */
    'on-connected': onTable(platform, encrypt, [
      statement(platform, { actions: readActions, on: ['work'] }),
      statement(platform, { actions: ['GetItem'], on: ['tokens'] }),
      statement(platform, { actions: ['UpdateItem'], on: ['sessions'] }),
    ]),
    /** Each frame checks its token in the same request as its session; a connection of a browser, its sign-in as it is stored. */
    socket: combine(
      write({ on: ['work', 'rates'], read: ['tokens'], append: ['audit'] }),
      permit(statement(platform, { actions: ['ConditionCheckItem'], on: ['work', 'tokens'] })),
    ),
    /** Keeps its place beside its connection, whose access is read before each slice, and records the end of a process. */
    terminal: onTable(platform, encrypt, [
      statement(platform, { actions: ['BatchGetItem', 'GetItem'], on: ['work', 'tokens'] }),
      statement(platform, { actions: ['DeleteItem', 'UpdateItem'], on: ['connections'] }),
      statement(platform, { actions: ['UpdateItem'], on: ['workspaces'] }),
    ]),
    /** Reads sandboxes and projects; writes events into the logs of sessions, and what their programs spend on models. */
    relay: onTable(platform, encrypt, [
      statement(platform, { actions: readActions, on: ['work'] }),
      statement(platform, {
        actions: ['ConditionCheckItem', 'DeleteItem', 'PutItem', 'UpdateItem'],
        on: ['connections', 'sessions'],
      }),
      statement(platform, { actions: ['UpdateItem'], on: ['rates'] }),
    ]),
    /** A run reads the credential of its creator: a token, or the grant of a connected client. */
    schedules: combine(
      write({ on: ['work', 'schedules'], read: ['tokens', 'oauth'], append: ['audit'] }),
      query('due'),
      batch('schedules'),
    ),
    api: combine(
      write({
        on: ['work', 'schedules', 'rates', 'tokens', 'tokenIds', 'tickets', 'previews', 'fileLinks', 'oauth'],
        read: ['audit'],
        append: ['audit'],
      }),
      query('owner'),
      batch('projects', 'sessions'),
    ),
    /** A token that a tool revokes ends the clients that were connected with it. */
    mcp: combine(
      write({
        on: ['work', 'schedules', 'calls', 'rates', 'tokens', 'tokenIds', 'oauth'],
        append: ['audit'],
      }),
      query('owner'),
      batch('projects', 'sessions'),
    ),
    synthetic: checkPlatform(platform),
  };
};

/** To read the webhooks, and to write notices for them. */
export const publishNotices = (platform: PlatformTable): Permission<object> =>
  permit(
    statement(platform, { actions: ['Query'], on: ['webhooks'] }),
    statement(platform, { actions: ['PutItem'], on: ['notices'] }),
  );

/**
 * To create, change and delete webhooks, to show their deliveries, and to mark one as having something to send. A
 * secret is written, and never read.
 */
export const manageWebhooks = (platform: PlatformTable): Permission<object> =>
  permit(
    statement(platform, { actions: itemActions, on: ['webhooks'] }),
    statement(platform, { actions: ['Query', 'UpdateItem'], on: ['deliveries'] }),
    statement(platform, { actions: ['DeleteItem', 'PutItem'], on: ['webhookSecrets'] }),
  );

/** To delete the webhooks of a deleted project. */
export const deleteWebhooks = (platform: PlatformTable): Permission<object> =>
  permit(
    statement(platform, { actions: ['DeleteItem', 'UpdateItem'], on: ['webhooks'] }),
    statement(platform, { actions: ['DeleteItem'], on: ['webhookSecrets'] }),
  );

/** To send webhooks: no other permission reads their secrets. */
export const sendWebhooks = (platform: PlatformTable): Permission<TableVariables> =>
  combine(
    readWrite(platform, {
      on: ['webhooks', 'notices', 'deliveries'],
      read: ['webhookSecrets'],
      append: ['audit'],
    }),
    queryIndex(platform, 'due'),
    batchWrite(platform, 'deliveries'),
  );

/** The project whose token the synthetic check creates (`functions/synthetic/own-token.ts`). */
const checkProject = 'PROJECT#00000000-0000-4000-8000-00000000c4ec';

/** To create that project, and to create and revoke a token of it. */
const checkPlatform = ({ table, encryptionKey }: PlatformTable): Permission<TableVariables> => {
  const on = (action: string, ...prefixes: readonly string[]): Statement => ({
    actions: [`dynamodb:${action}`],
    resources: [table.tableArn],
    conditions: startingWith(prefixes),
  });
  return {
    variables: { TABLE_NAME: table.tableName },
    statements: [
      on('ConditionCheckItem', checkProject),
      on('GetItem', checkProject, 'TOKENID#*'),
      on('PutItem', checkProject, 'TOKEN#*', 'TOKENID#*'),
      on('DeleteItem', 'TOKEN#*', 'TOKENID#*'),
      ...useKey(encryptionKey, {
        service: 'dynamodb',
        actions: ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey'],
      }),
    ],
  };
};
