/** A rule of cdk-nag that is not followed: where, and why. There is no other way to silence one. */
import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** `rule` as cdk-nag prints it, without its prefix: `IAM5[Resource::*]`. */
export const acknowledge = (scope: IConstruct, rule: string, reason: string): void =>
  Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
