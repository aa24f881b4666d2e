/**
 * The sweep of webhooks: deliveries that are due again, and notices that were lost. It also tells the sender the address of
 * the deployment, which is not known before the one origin exists.
 *
 * A sweep that could not be delivered is not tried again: the next one is due in a minute.
 */
import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { HouseFunction } from './house-function.ts';

export type WebhookSweepProps = {
  readonly function: HouseFunction<'webhooks'>;
  /** The public address of the deployment. */
  readonly url: string;
};

const every = Duration.minutes(1);

export class WebhookSweep extends Construct {
  constructor(scope: Construct, id: string, { function: { lambda }, url }: WebhookSweepProps) {
    super(scope, id);
    new Rule(this, 'Rule', {
      description: 'The sweep of webhooks',
      schedule: Schedule.rate(every),
      targets: [
        new LambdaFunction(lambda, {
          // `shared/contracts/webhook-task.ts`
          event: RuleTargetInput.fromObject({ sweep: 'webhooks', url }),
          retryAttempts: 0,
          maxEventAge: every,
        }),
      ],
    });
  }
}
