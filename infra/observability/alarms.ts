/**
 * Alarms: one function creates them all, each with the heading of the runbook that says what to do.
 *
 * The topic decides the recipients; a deployment without subscribers still shows the alarms on its dashboard. An alarm
 * is billed by its metrics, and none may read more than ten.
 */
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

export type AlarmSpecification = {
  readonly metric: IMetric;
  readonly says: string;
  /** A heading of docs/runbook.md, as its anchor. */
  readonly runbook: string;
  readonly threshold: number;
  readonly periods?: number;
  /** Missing data means breaching: silence itself is the fault. */
  readonly whenSilent?: boolean;
  readonly below?: boolean;
};

export type AlarmsProps = { readonly topic: ITopic; readonly runbookUrl: string };

export class Alarms extends Construct {
  readonly alarms: Alarm[] = [];
  private readonly props: AlarmsProps;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.props = props;
  }

  alarm(id: string, specification: AlarmSpecification): void {
    const {
      metric,
      says,
      runbook,
      threshold,
      periods = 1,
      whenSilent = false,
      below = false,
    } = specification;
    const alarm = new Alarm(this, id, {
      metric,
      alarmDescription: `${says} What to do: ${this.props.runbookUrl}#${runbook}`,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: below
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: whenSilent ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(this.props.topic));
    this.alarms.push(alarm);
  }
}
