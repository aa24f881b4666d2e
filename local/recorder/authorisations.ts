/**
 * The authorisations that AWS would check for one call: actions on resources, with the context that conditions read.
 *
 * They are derived from the request alone, by each service's table of actions, resources and condition keys
 * (https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html).
 */
import { accountId, region } from '../endpoint/account.ts';
import { arnOf, nameFrom } from '../lambda/function.ts';

export type Authorisation = {
  /** `dynamodb:GetItem` */
  readonly action: string;
  readonly resource: string;
  readonly context: Readonly<Record<string, readonly string[]>>;
};

/** A complete request to an AWS endpoint. */
type AwsRequest = {
  readonly method: string;
  readonly url: URL;
  /** `GetItem` of `DynamoDB_20120810.GetItem`; empty where the service has none. */
  readonly operation: string;
  readonly body: Buffer;
};

type AuthorisationsOf = (request: AwsRequest) => readonly Authorisation[];

const arn = (service: string, rest: string): string => `arn:aws:${service}:${region}:${accountId}:${rest}`;

const jsonOf = (body: Buffer): Record<string, unknown> =>
  body.length === 0 ? {} : (JSON.parse(body.toString()) as Record<string, unknown>);

type Attribute = { readonly S?: string };
type Item = Readonly<Record<string, Attribute>>;
type Single = {
  readonly TableName: string;
  readonly IndexName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Item;
};
type Transaction = { readonly TransactItems: readonly Readonly<Record<string, Single>>[] };
type Batch = {
  readonly RequestItems: Readonly<
    Record<
      string,
      { readonly Keys: readonly Item[] } | readonly Readonly<Record<string, { Key?: Item; Item?: Item }>>[]
    >
  >;
};

const transactionActions: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

const ofDynamoDb: AuthorisationsOf = ({ operation, body }) => {
  const input = jsonOf(body);
  if ('TransactItems' in input)
    return (input as Transaction).TransactItems.flatMap((entry) =>
      Object.entries(entry).map(([kind, single]) => onOne(transactionActions[kind] ?? kind, single)),
    );
  if ('RequestItems' in input)
    return Object.entries((input as Batch).RequestItems).map(([TableName, requests]) =>
      onTable(operation, TableName, 'Keys' in requests ? requests.Keys.map(keyOf) : requests.map(keyOfWrite)),
    );
  return [onOne(operation, input as Single)];
};

const onOne = (action: string, single: Single): Authorisation => {
  const { TableName, IndexName } = single;
  const name = IndexName === undefined ? TableName : `${TableName}/index/${IndexName}`;
  return onTable(action, name, [
    single.KeyConditionExpression === undefined ? keyOf(single.Key ?? single.Item) : queriedKey(single),
  ]);
};

const onTable = (action: string, name: string, leadingKeys: readonly string[]): Authorisation => ({
  action: `dynamodb:${action}`,
  resource: arn('dynamodb', `table/${name}`),
  context: { 'dynamodb:LeadingKeys': leadingKeys },
});

const keyOf = (item: Item = {}): string => item['pk']?.S ?? '';

const keyOfWrite = (write: Readonly<Record<string, { Key?: Item; Item?: Item }>>): string => {
  const [request] = Object.values(write);
  return keyOf(request?.Key ?? request?.Item);
};

/** The first equality of a key condition is the partition key's. */
const queriedKey = ({ KeyConditionExpression = '', ExpressionAttributeValues = {} }: Single): string => {
  const [, value = ''] = /= *(:\w+)/.exec(KeyConditionExpression) ?? [];
  return ExpressionAttributeValues[value]?.S ?? '';
};

const ofS3: AuthorisationsOf = ({ method, url, body }) => {
  const [, bucket = '', ...rest] = decodeURIComponent(url.pathname).split('/');
  const key = rest.join('/');
  const query = url.searchParams;
  const onObject = (action: string, of = key): Authorisation => ({
    action: `s3:${action}`,
    resource: `arn:aws:s3:::${bucket}/${of}`,
    context: {},
  });
  if (key === '' && query.has('delete'))
    return Array.from(body.toString().matchAll(/<Key>([^<]+)<\/Key>/g), ([, name = '']) =>
      onObject('DeleteObject', name),
    );
  if (key === '') {
    const prefix = query.get('prefix');
    const context: Authorisation['context'] = prefix === null ? {} : { 's3:prefix': [prefix] };
    return [{ action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}`, context }];
  }
  if (method === 'DELETE') return [onObject(query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject')];
  return [onObject(method === 'GET' || method === 'HEAD' ? 'GetObject' : 'PutObject')];
};

type EcsInput = {
  readonly cluster?: string;
  readonly task?: string;
  readonly tasks?: readonly string[];
  readonly taskDefinition?: string;
  readonly tags?: readonly unknown[];
};

export const executionRoleOf = (family: string): string => `arn:aws:iam::execution-role-of:${family}`;

const ofEcs: AuthorisationsOf = ({ operation, body }) => {
  const { cluster = 'default', task, tasks = [], taskDefinition = '', tags = [] } = jsonOf(body) as EcsInput;
  const context = {
    'ecs:cluster': [cluster.startsWith('arn:') ? cluster : arn('ecs', `cluster/${cluster}`)],
  };
  const on = (resource: string): Authorisation => ({ action: `ecs:${operation}`, resource, context });
  if (operation === 'RunTask')
    return [
      on(arn('ecs', `task-definition/${taskDefinition}${taskDefinition.includes(':') ? '' : ':1'}`)),
      passRole(executionRoleOf(taskDefinition), 'ecs-tasks.amazonaws.com'),
      ...(tags.length > 0
        ? [{ action: 'ecs:TagResource', resource: arn('ecs', `task/${cluster}/new`), context }]
        : []),
    ];
  if (operation === 'ListTasks') return [on('*')];
  return (task === undefined ? tasks : [task]).map(on);
};

const passRole = (resource: string, to: string): Authorisation => ({
  action: 'iam:PassRole',
  resource,
  context: { 'iam:PassedToService': [to] },
});

/** One action for every kind of invocation. */
const ofLambda: AuthorisationsOf = ({ url }) => {
  const [, reference = ''] = /^\/[0-9-]+\/functions\/([^/]+)\//.exec(url.pathname) ?? [];
  return [
    {
      action: 'lambda:InvokeFunction',
      resource: arnOf(nameFrom(decodeURIComponent(reference))),
      context: {},
    },
  ];
};

type SecretInput = { readonly Name?: string; readonly SecretId?: string };

/** The last six characters of an ARN are random. */
const ofSecretsManager: AuthorisationsOf = ({ operation, body }) => {
  const { Name, SecretId = Name ?? '' } = jsonOf(body) as SecretInput;
  const resource = SecretId.startsWith('arn:')
    ? SecretId
    : arn('secretsmanager', `secret:${SecretId}-abcdef`);
  return [{ action: `secretsmanager:${operation}`, resource, context: {} }];
};

type ScheduleInput = { readonly GroupName?: string; readonly Target?: { readonly RoleArn?: string } };

const scheduleActions: Readonly<Record<string, string>> = {
  POST: 'CreateSchedule',
  PUT: 'UpdateSchedule',
  GET: 'GetSchedule',
  DELETE: 'DeleteSchedule',
};

const ofScheduler: AuthorisationsOf = ({ method, url, body }) => {
  const { GroupName, Target } = jsonOf(body) as ScheduleInput;
  const group = GroupName ?? url.searchParams.get('groupName') ?? 'default';
  const name = decodeURIComponent(url.pathname.split('/')[2] ?? '');
  return [
    {
      action: `scheduler:${scheduleActions[method] ?? method}`,
      resource: arn('scheduler', `schedule/${group}/${name}`),
      context: {},
    },
    ...(Target?.RoleArn === undefined ? [] : [passRole(Target.RoleArn, 'scheduler.amazonaws.com')]),
  ];
};

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-control-access-iam.html */
const ofConnections: AuthorisationsOf = ({ method, url }) => [
  {
    action: 'execute-api:ManageConnections',
    resource: arn('execute-api', `socket${url.pathname.replace('/@', `/${method}/@`)}`),
    context: {},
  },
];

export const services: Readonly<Record<string, AuthorisationsOf>> = {
  dynamodb: ofDynamoDb,
  ecs: ofEcs,
  'execute-api': ofConnections,
  lambda: ofLambda,
  s3: ofS3,
  scheduler: ofScheduler,
  secretsmanager: ofSecretsManager,
};
