/** What an operator sees of a deployment, as one construct: its alarms, its dashboard, its saved queries. */

import { Aws, Duration } from 'aws-cdk-lib';
import { type Alarm, AlarmStatusWidget, Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import { addAlarmsOfPlatform } from './alarms-of-platform.ts';
import { addAlarmsOfWork } from './alarms-of-work.ts';
import { type OwnMetrics, ownMetricsOf, type Watched } from './monitored.ts';
import { awsRows, upkeepRows } from './platform-sections.ts';
import { queries, SavedQueries } from './queries.ts';
import { columns, text } from './widgets.ts';
import { approvalRows, sandboxRows, turnRows, webhookRows } from './work-sections.ts';

export type ObservabilityProps = Omit<Watched, 'runbookUrl'> & {
  /** Who is told of alarms. */
  readonly topic: ITopic;
  /** Where docs/runbook.md is read. Absent: its path in the repository. */
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
    const watched: Watched = { ...rest, runbookUrl };
    const own = ownMetricsOf(watched.deployment);
    const alarms = new Alarms(this, 'Alarms', { topic, runbookUrl });
    addAlarmsOfPlatform(alarms, watched, own);
    addAlarmsOfWork(alarms, own);
    new Overview(this, 'Overview', { watched, own, alarms: alarms.alarms });
    new SavedQueries(this, 'Queries', watched);
  }
}

/** The dashboard: what to look at first, the alarms, then turns, approvals, sandboxes, upkeep, and what AWS counts. */
export type OverviewProps = {
  readonly watched: Watched;
  readonly own: OwnMetrics;
  readonly alarms: readonly Alarm[];
};

export class Overview extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, { watched, own, alarms }: OverviewProps) {
    super(scope, id);
    this.dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(3) });
    const rows = [
      [text(firstLook(watched), 5)],
      [new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: columns, height: 4 })],
      ...turnRows(watched, own),
      ...approvalRows(watched, own),
      ...sandboxRows(watched, own),
      ...webhookRows(watched, own),
      ...upkeepRows(watched, own),
      ...awsRows(watched),
    ];
    for (const row of rows) this.dashboard.addWidgets(...row);
  }
}

const console = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}`;

const firstLook = ({ deployment, runbookUrl }: Watched): string =>
  [
    `# ${deployment}`,
    `1. **Alarms**: each names its heading of the [runbook](${runbookUrl}#alarms). 2. **Turns**: do those that start end, and with which [codes](${runbookUrl}#error-codes)? 3. **Sandboxes**: do they start, and in their usual time? 4. **Janitor**: five sweeps in five minutes.`,
    '',
    `One message: its \`x-request-id\`, or \`requestId\` of an error, is the correlation id of its log lines; look for it with a [saved query](${console}#logsV2:logs-insights) of \`${deployment}/\`: ${queries.map(({ name }) => name).join(' · ')}.`,
  ].join('\n');
