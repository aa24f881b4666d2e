/** The authorisations of each service's calls, by the name with which its requests are signed. Other services are not used. */
import { arnOf, nameFrom } from '../lambda/function.ts';
import { type AuthorisationsOf, arn, jsonOf } from './authorisation.ts';
import { ofDynamoDb } from './dynamodb.ts';
import { ofEcs, passRole } from './ecs.ts';
import { ofS3 } from './s3.ts';

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
