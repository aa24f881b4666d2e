/** A rule of cdk-nag that is not followed: where, and why. There is no other way to silence one. */
import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** `rule` as cdk-nag prints it, without its prefix: `IAM5[Resource::*]`. */
export const acknowledge = (scope: IConstruct, rule: string, reason: string): void =>
  Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });

/** That some of a role's resources are patterns: each pattern by itself, so that another one is still found. */
export const acknowledgeWildcards = (
  scope: IConstruct,
  resources: readonly string[],
  reason: string,
): void => {
  for (const resource of resources)
    acknowledge(scope, `IAM5[Resource::${shown(Stack.of(scope).resolve(resource))}]`, reason);
};

/** A resolved value as cdk-nag prints it: references as `<LogicalId.Attribute>`. */
const shown = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Intrinsic;
  if (ref !== undefined) return `<${ref}>`;
  if (attribute !== undefined) return `<${attribute.join('.')}>`;
  return join?.[1].map(shown).join(join[0]) ?? '';
};

type Intrinsic = {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly string[];
  readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
};
