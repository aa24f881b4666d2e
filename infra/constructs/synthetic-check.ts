/**
 * The synthetic check: what its function may do, and the clock that has it use the platform where users meet it.
 *
 * A check that could not be delivered, or failed, is not made again: the next one is due soon, and checks do not pile
 * up. Without `SYNTHETIC_CHECK` it is on; `false` takes the clock away, and the function then does nothing.
 */
import { Duration } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import type { HouseFunction } from './house-function.ts';
import type { Need } from './need.ts';
import type { PlatformData } from './platform-data.ts';
import { usingKey } from './platform-key.ts';

/** Longer than its longest wait, shorter than the time until the next one of its kind. */
export const checkTimeout = Duration.minutes(5);

/** It waits most of its time, and is paid for it. */
export const checkMemoryMib = 256;

/** What it is invoked with, and how often (`functions/synthetic/task.ts`). */
const checks = [
  { check: 'turn', every: Duration.minutes(5) },
  { check: 'sandbox', every: Duration.hours(1) },
];

/** The project whose token the check makes for itself (`functions/synthetic/own-token.ts`). */
const ownProject = 'PROJECT#00000000-0000-4000-8000-00000000c4ec';

type CheckVariables = { readonly TABLE_NAME: string };

export const isChecked = ({ variables }: Pick<Settings, 'variables'>): boolean =>
  variables.SYNTHETIC_CHECK !== 'false';

/** To make its project, and to make and revoke a token of it. */
export const checking = ({
  table,
  encryptionKey,
}: Pick<PlatformData, 'encryptionKey'> & { readonly table: ITableV2 }): Need<CheckVariables> => {
  const on = (action: string, ...starts: readonly string[]) => ({
    actions: [`dynamodb:${action}`],
    resources: [table.tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': starts } },
  });
  return {
    // Whether it is on stands in the operator's settings, which every function is given.
    variables: { TABLE_NAME: table.tableName },
    statements: [
      on('GetItem', ownProject, 'TOKENID#*'),
      on('PutItem', ownProject, 'TOKEN#*', 'TOKENID#*'),
      on('DeleteItem', 'TOKEN#*', 'TOKENID#*'),
      ...usingKey(encryptionKey, {
        service: 'dynamodb',
        actions: ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey'],
      }),
    ],
  };
};

export type SyntheticCheckProps = {
  readonly settings: Settings;
  readonly function: HouseFunction<'synthetic'>;
  /** Where users meet the platform. */
  readonly url: string;
};

export class SyntheticCheck extends Construct {
  constructor(scope: Construct, id: string, { settings, function: { lambda }, url }: SyntheticCheckProps) {
    super(scope, id);
    if (!isChecked(settings)) return;
    for (const { check, every } of checks)
      new Rule(this, check, {
        description: `The synthetic check of a ${check}`,
        schedule: Schedule.rate(every),
        targets: [
          new LambdaFunction(lambda, {
            event: RuleTargetInput.fromObject({ check, url }),
            retryAttempts: 0,
            maxEventAge: Duration.minutes(1),
          }),
        ],
      });
  }
}
