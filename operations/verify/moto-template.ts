/**
 * Template as moto's CloudFormation can create it: without the resources that it has no code for, with the values that they and other
 * stacks would give written in, and with what it misreads put as it reads it. Pure.
 */
import type { Resource, Template } from '../../infra/stacks/synthesise.ts';

export type Creatable = {
  readonly template: object;
  /** Logical ids of the resources that are left in. */
  readonly ids: readonly string[];
  /** Those, by type. */
  readonly kept: Readonly<Record<string, number>>;
  /** Resources that are left out, by type. */
  readonly skipped: Readonly<Record<string, number>>;
};

type Known = {
  readonly knows: (type: string) => boolean;
  /** The value of an output of a stack that was created before. */
  readonly outputOf: (stack: string, output: string) => string;
};

export const asCreatable = (template: Template, { knows, outputOf }: Known): Creatable => {
  const all = Object.entries(template.Resources);
  const kept = all.filter(([, { Type }]) => knows(Type));
  const out = all.filter(([, { Type }]) => !knows(Type));
  const left = new Map(out.map(([id, { Type }]) => [id, Type]));
  const written = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(written);
    if (typeof value !== 'object' || value === null) return value;
    return resolved(value, left, outputOf) ?? eachOf(value, left, written);
  };
  const Resources = Object.fromEntries(kept.map(([id, resource]) => [id, readable(resource)]));
  return {
    template: written({ ...template, Resources }) as object,
    ids: kept.map(([id]) => id),
    kept: countsOf(kept),
    skipped: countsOf(out),
  };
};

const countsOf = (found: readonly (readonly [string, Resource])[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(found, ([, { Type }]) => Type)].map(([type, { length }]) => [type, length]),
  );

/** Types of resources that are left out, by logical id. */
type Left = ReadonlyMap<string, string>;
type Intrinsics = {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly [id: string, attribute: string];
  readonly 'Fn::GetStackOutput'?: { readonly StackName: string; readonly OutputName: string };
};

/** The value of an intrinsic function that moto cannot resolve; undefined: it is none of these. */
const resolved = (value: Intrinsics, left: Left, outputOf: Known['outputOf']): string | undefined => {
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::GetStackOutput': output } = value;
  if (output !== undefined) return outputOf(output.StackName, output.OutputName);
  if (Ref !== undefined && left.has(Ref))
    return placeholder(Ref, refersByArn.has(left.get(Ref)) ? 'Arn' : 'Ref');
  return attribute !== undefined && left.has(attribute[0]) ? placeholder(...attribute) : undefined;
};

const eachOf = (value: object, left: Left, written: (value: unknown) => unknown): object =>
  Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'DependsOn' ? [inner].flat().filter((id) => !left.has(id)) : written(inner),
    ]),
  );

/** Types whose `Ref` is an ARN. */
const refersByArn: ReadonlySet<string | undefined> = new Set(['AWS::SecretsManager::Secret']);

const placeholder = (id: string, attribute: string): string =>
  attribute.endsWith('Arn')
    ? `arn:aws:skipped:us-east-1:123456789012:${id}`
    : `skipped-${id}-${attribute}`.toLowerCase();

type Properties = Resource['Properties'];
const withoutTags = ({ Tags: _, ...properties }: Properties): Properties => properties;

/** Faults of moto: it reads these tags in the form of their API, and asks a mock for a method and an address. */
const misread: Readonly<Record<string, (properties: Properties) => Properties>> = {
  'AWS::KMS::Key': withoutTags,
  'AWS::SSM::Parameter': withoutTags,
  'AWS::ApiGateway::Method': ({ Integration, ...rest }) => ({
    ...rest,
    Integration: {
      ...(Integration.Type === 'MOCK' && { IntegrationHttpMethod: 'POST', Uri: '' }),
      ...Integration,
    },
  }),
};

const readable = (resource: Resource): Resource => {
  const put = misread[resource.Type];
  return put === undefined ? resource : { ...resource, Properties: put(resource.Properties) };
};
