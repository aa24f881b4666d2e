/** The observability of a deployment as one construct: its alarms, its dashboard and its saved queries. */
import { Aws, Duration } from 'aws-cdk-lib';
import { type Alarm, AlarmStatusWidget, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import { type Monitored, type PlatformMetrics, platformMetricsOf } from './monitored.ts';
import { addPlatformAlarms } from './platform-alarms.ts';
import { queries, SavedQueries } from './queries.ts';
import {
  approvalRows,
  awsRows,
  figureRows,
  relayRows,
  sandboxRows,
  turnRows,
  upkeepRows,
  webhookRows,
} from './sections.ts';
import { columns, text } from './widgets.ts';
import { addWorkAlarms } from './work-alarms.ts';

export type ObservabilityProps = Omit<Monitored, 'runbookUrl'> & {
  /** Receives the alarms. */
  readonly topic: ITopic;
  /** The address of docs/runbook.md. Absent: its path in the repository. */
  readonly runbookUrl?: string | undefined;
};

const runbookPath = 'docs/runbook.md';

export class Observability extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { topic, runbookUrl = runbookPath, ...rest }: ObservabilityProps,
  ) {
    super(scope, id);
    const monitored: Monitored = { ...rest, runbookUrl };
    const metric = platformMetricsOf(monitored.deployment);
    const alarms = new Alarms(this, 'Alarms', { topic, runbookUrl });
    addPlatformAlarms(alarms, monitored, metric);
    addWorkAlarms(alarms, metric);
    addDashboard(this, { monitored, metric, alarms: alarms.alarms });
    new SavedQueries(this, 'Queries', monitored);
  }
}

type DashboardProps = {
  readonly monitored: Monitored;
  readonly metric: PlatformMetrics;
  readonly alarms: readonly Alarm[];
};

/** The dashboard: a first look, the alarms, then figures beside their targets, turns, approvals, sandboxes, webhooks, relays, upkeep, and AWS's own metrics. */
const addDashboard = (scope: Construct, { monitored, metric, alarms }: DashboardProps): void => {
  const dashboard = new Dashboard(scope, 'Dashboard', { defaultInterval: Duration.hours(3) });
  const rows = [
    [text(firstLook(monitored), 5)],
    [new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: columns, height: 4 })],
    ...figureRows(monitored, metric),
    ...turnRows(monitored, metric),
    ...approvalRows(monitored, metric),
    ...sandboxRows(monitored, metric),
    ...webhookRows(monitored, metric),
    ...relayRows(monitored),
    ...upkeepRows(monitored, metric),
    ...awsRows(monitored),
  ];
  for (const row of rows) dashboard.addWidgets(...row);
};

const console = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}`;

const firstLook = ({ deployment, runbookUrl }: Monitored): string =>
  [
    `# ${deployment}`,
    `1. **Alarms**: each names its heading of the [runbook](${runbookUrl}#alarms). 2. **Turns**: do all that start end, and with which [error codes](${runbookUrl}#error-codes)? 3. **Sandboxes**: do they start, and in the usual time? 4. **Janitor**: five sweeps in five minutes.`,
    '',
    `One message: its \`x-request-id\`, or \`requestId\` of an error, is the correlation id of its log lines; find it with a [saved query](${console}#logsV2:logs-insights) of \`${deployment}/\`: ${queries.map(({ name }) => name).join(' · ')}.`,
  ].join('\n');
