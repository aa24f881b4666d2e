/** Exceptions to rules of cdk-nag: each with its place and its reason, and no other way to silence one. */
import { type IResolvable, Reference, Stack, StringConcat, Tokenization, Validations } from 'aws-cdk-lib';
import { AwsCustomResource } from 'aws-cdk-lib/custom-resources';
import type { IConstruct } from 'constructs';

/** `rule` as cdk-nag prints it, without its prefix: `IAM5[Resource::*]`. */
export const acknowledge = (scope: IConstruct, rule: string, reason: string): void =>
  Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });

/** Patterns among a role's resources, each by itself, so that another one is still found. */
export const acknowledgeWildcards = (
  scope: IConstruct,
  resources: readonly string[],
  reason: string,
): void => {
  for (const resource of resources)
    acknowledge(
      scope,
      `IAM5[Resource::${shown(Stack.of(scope).resolve(imported(scope, resource)))}]`,
      reason,
    );
};

/** The function behind `AwsCustomResource`: the CDK creates one for each stack. */
export const acknowledgeCustomResource = (scope: IConstruct): void =>
  acknowledge(
    Stack.of(scope).node.findChild(`AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`),
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
    'The CDK creates the function and lets it write logs by the policy of that name.',
  );

/** A reference to another stack in its exported form, which cdk-nag sees. */
const imported = (scope: IConstruct, resource: string): string =>
  Tokenization.reverseString(resource)
    .mapTokens({ mapToken: (token: IResolvable) => importedReference(scope, token) })
    .join(new StringConcat());

const importedReference = (scope: IConstruct, token: IResolvable): unknown =>
  Reference.isReference(token) && Stack.of(token.target) !== Stack.of(scope)
    ? Stack.of(token.target).exportValue(token)
    : token;

/** A resolved value as cdk-nag prints it: references as `<LogicalId.Attribute>`, imports by their name. */
const shown = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join, 'Fn::ImportValue': name } = value as Intrinsic;
  if (name !== undefined) return name;
  if (ref !== undefined) return `<${ref}>`;
  if (attribute !== undefined) return `<${attribute.join('.')}>`;
  return join?.[1].map(shown).join(join[0]) ?? '';
};

type Intrinsic = {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly string[];
  readonly 'Fn::ImportValue'?: string;
  readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
};
