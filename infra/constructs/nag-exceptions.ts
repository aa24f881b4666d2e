/** Exceptions to rules of cdk-nag, each with its place and its reason. There is no other way to silence a rule. */
import { Stack, Validations } from 'aws-cdk-lib';
import { AwsCustomResource } from 'aws-cdk-lib/custom-resources';
import type { IConstruct } from 'constructs';

/** `rule` as cdk-nag prints it, without its prefix: `IAM5[Resource::*]`. */
export const acknowledge = (scope: IConstruct, rule: string, reason: string): void =>
  Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });

/**
 * Patterns among a role's resources, each by itself, so that another one is still found. References to other stacks have
 * their final form only when the tree is validated, which is before the rules are applied.
 */
export const acknowledgeWildcards = (scope: IConstruct, resources: readonly string[], reason: string): void =>
  scope.node.addValidation({
    validate: () => {
      for (const resource of resources)
        acknowledge(scope, `IAM5[Resource::${shown(Stack.of(scope).resolve(resource))}]`, reason);
      return [];
    },
  });

/** The function behind `AwsCustomResource`: the CDK creates one for each stack. */
export const acknowledgeCustomResource = (scope: IConstruct): void =>
  acknowledge(
    Stack.of(scope).node.findChild(`AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`),
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
    'The CDK creates the function and lets it write logs by the policy of that name.',
  );

/** A resolved value as cdk-nag prints it: references as `<LogicalId.Attribute>`, those to other stacks as JSON. */
const shown = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Intrinsic;
  if (ref !== undefined) return `<${ref}>`;
  if (attribute !== undefined) return `<${attribute.join('.')}>`;
  return join?.[1].map(shown).join(join[0]) ?? JSON.stringify(value);
};

type Intrinsic = {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly string[];
  readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
};
