/**
 * The values of a template as the embedded cloud names things: references and attributes become the names and ARNs
 * under which functions know them there. An intrinsic function or a type that is not known here is an error.
 */
import { accountId, region } from '../../local/endpoint/account.ts';

type Resource = { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> };
export type DeployedTemplate = {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
};

export type Resolve = (value: unknown) => unknown;

const pseudo: Readonly<Record<string, string>> = {
  'AWS::AccountId': accountId,
  'AWS::Region': region,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** Values of one template; what it reads of other stacks is looked up in all of them. */
export const resolverOf = (template: DeployedTemplate, all: readonly DeployedTemplate[]): Resolve => {
  const resolve: Resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [[name, argument] = ['', undefined]] = entries;
    const intrinsic = entries.length === 1 ? intrinsics[name] : undefined;
    if (intrinsic !== undefined) return intrinsic(argument);
    if (name.startsWith('Fn::')) throw new Error(`${name} is not known here`);
    return Object.fromEntries(entries.map(([key, inner]) => [key, resolve(inner)]));
  };
  const text = (value: unknown): string => String(resolve(value));
  const intrinsics: Readonly<Record<string, (argument: unknown) => unknown>> = {
    Ref: (id) => pseudo[id as string] ?? nameOf(id as string, template, resolve),
    'Fn::GetAtt': (argument) => attributeOf(argument as readonly [string, string], template, resolve),
    'Fn::Join': (argument) => {
      const [separator, parts] = argument as readonly [string, readonly unknown[]];
      return parts.map(text).join(separator);
    },
    'Fn::Sub': (argument) =>
      String(argument).replaceAll(/\$\{([^}]+)\}/g, (_, id: string) => text({ Ref: id })),
    'Fn::GetStackOutput': (argument) =>
      outputNamed((argument as { readonly OutputName: string }).OutputName, all),
    'Fn::Split': (argument) => {
      const [separator, of] = argument as readonly [string, unknown];
      return text(of).split(separator);
    },
    'Fn::Select': (argument) => {
      const [index, of] = argument as readonly [number, unknown];
      return (resolve(of) as readonly unknown[])[Number(index)];
    },
    'Fn::GetAZs': () => [`${region}a`, `${region}b`, `${region}c`],
  };
  return resolve;
};

/** The CDK's names of outputs hold a hash of the path: each occurs once. */
const outputNamed = (name: string, all: readonly DeployedTemplate[]): unknown => {
  for (const template of all) {
    const output = template.Outputs?.[name];
    if (output !== undefined) return resolverOf(template, all)(output.Value);
  }
  throw new Error(`no stack has the output ${name}`);
};

/** The name in `local/cloud.ts`; elsewhere the logical id stands for the name that CloudFormation would make. */
const nameOf = (id: string, { Resources }: DeployedTemplate, resolve: Resolve): string => {
  const { Type, Properties = {} } = Resources[id] ?? { Type: 'parameter' };
  switch (Type) {
    case 'AWS::DynamoDB::GlobalTable':
      return 'sallyport';
    case 'AWS::S3::Bucket':
      return /Workspaces/.test(id) ? 'sallyport-workspaces' : id;
    case 'AWS::ECS::Cluster':
      return 'sallyport';
    case 'AWS::ECS::TaskDefinition':
      return `arn:aws:ecs:${region}:${accountId}:task-definition/${String(resolve(Properties['Family']))}:1`;
    case 'AWS::Lambda::Function':
      return Properties['FunctionName'] === undefined
        ? functionName(id)
        : String(resolve(Properties['FunctionName']));
    case 'AWS::Scheduler::ScheduleGroup':
      return String(resolve(Properties['Name']));
    case 'AWS::ApiGatewayV2::Api':
      return 'socket';
    case 'AWS::SecretsManager::Secret':
      return `arn:aws:secretsmanager:${region}:${accountId}:secret:${id}-abcdef`;
    default:
      return id;
  }
};

/** `…FunctionssandboxlinkFunctionAEAF393D`: the path of constructs without what is no letter. */
const functionName = (id: string): string => {
  const [, joined = ''] = /Functions([a-z]+)Function[0-9A-F]{8}$/.exec(id) ?? [];
  const dashed: Readonly<Record<string, string>> = {
    onconnected: 'on-connected',
    sandboxlink: 'sandbox-link',
    taskevents: 'task-events',
  };
  return joined === '' ? id : `sallyport-${dashed[joined] ?? joined}`;
};

const services: Readonly<Record<string, (name: string) => string>> = {
  'AWS::DynamoDB::GlobalTable': (name) => `arn:aws:dynamodb:${region}:${accountId}:table/${name}`,
  'AWS::S3::Bucket': (name) => `arn:aws:s3:::${name}`,
  'AWS::ECS::Cluster': (name) => `arn:aws:ecs:${region}:${accountId}:cluster/${name}`,
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:${region}:${accountId}:function:${name}`,
  'AWS::IAM::Role': (name) => `arn:aws:iam::${accountId}:role/${name}`,
  'AWS::SQS::Queue': (name) => `arn:aws:sqs:${region}:${accountId}:${name}`,
  'AWS::Logs::LogGroup': (name) => `arn:aws:logs:${region}:${accountId}:log-group:${name}:*`,
};

const attributeOf = (
  [id, attribute]: readonly [string, string],
  template: DeployedTemplate,
  resolve: Resolve,
): string => {
  const name = nameOf(id, template, resolve);
  const arnOf = services[template.Resources[id]?.Type ?? ''];
  if (attribute === 'Arn' && arnOf !== undefined) return arnOf(name);
  return `${name}.${attribute}`;
};
