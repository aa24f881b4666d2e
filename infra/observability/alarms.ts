/**
 * The class that creates every alarm, with a link to the heading of the runbook that says what to do. The alarms themselves are
 * in `platform-alarms.ts` and `work-alarms.ts`.
 *
 * The topic decides the recipients; a deployment without subscribers still shows the alarms on its dashboard. An alarm is
 * billed by its metrics, and none may read more than ten.
 */
import {
  Alarm,
  ComparisonOperator,
  type CreateAlarmOptions,
  type IMetric,
  MathExpression,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
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
  /** The newest periods among which those may be, in any order; absent: they follow each other. */
  readonly among?: number;
};

/** An alarm for which silence itself is the fault. */
export type SilenceSpecification = Omit<AlarmSpecification, 'metric' | 'threshold'> & {
  /** One is enough, and all have the same period. */
  readonly metrics: readonly [Metric, ...Metric[]];
};

export type AlarmsProps = { readonly topic: ITopic; readonly runbookUrl: string };

export class Alarms extends Construct {
  readonly alarms: Alarm[] = [];
  private readonly props: AlarmsProps;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.props = props;
  }

  alarm(id: string, { metric, ...specification }: AlarmSpecification): void {
    this.add(id, specification, {
      metric,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /**
   * Where data is missing CloudWatch takes older values for the newest, from a range that is longer than the periods and written
   * nowhere; so zeros are filled in, and data that is missing all the same is breaching
   * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html).
   */
  silence(id: string, { metrics, ...specification }: SilenceSpecification): void {
    const entries = metrics.map((metric, index) => [`m${index}`, metric] as const);
    const filled = entries.map(([name]) => `FILL(${name}, 0)`);
    this.add(
      id,
      { ...specification, threshold: 1 },
      {
        metric: new MathExpression({
          expression: filled.length === 1 ? `${filled}` : `MIN([${filled.join(', ')}])`,
          usingMetrics: Object.fromEntries(entries),
          label: 'seen',
          period: metrics[0].period,
        }),
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
      },
    );
  }

  private add(id: string, { says, runbook, threshold, periods = 1, among }: Judged, options: Watched): void {
    const alarm = new Alarm(this, id, {
      ...options,
      alarmDescription: `${says} What to do: ${this.props.runbookUrl}#${runbook}`,
      threshold,
      evaluationPeriods: among ?? periods,
      ...(among === undefined ? {} : { datapointsToAlarm: periods }),
    });
    alarm.addAlarmAction(new SnsAction(this.props.topic));
    this.alarms.push(alarm);
  }
}

type Judged = Omit<AlarmSpecification, 'metric'>;
type Watched = Pick<CreateAlarmOptions, 'comparisonOperator' | 'treatMissingData'> & {
  readonly metric: IMetric;
};
