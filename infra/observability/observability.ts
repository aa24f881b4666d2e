/** What an operator sees of a deployment, as one construct: its alarms, its dashboard, its saved queries. */
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import { addAlarmsOfPlatform } from './alarms-of-platform.ts';
import { addAlarmsOfWork } from './alarms-of-work.ts';
import { Overview } from './dashboard.ts';
import { ownMetricsOf } from './platform-metrics.ts';
import { SavedQueries } from './saved-queries.ts';
import type { Watched } from './watched.ts';

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
