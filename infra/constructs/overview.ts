/** The dashboard: whether anything is wrong, then turns, sandboxes, doors and functions, top to bottom. */
import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { ComputeStack } from '../stacks/compute-stack.ts';
import type { EdgeStack } from '../stacks/edge-stack.ts';
import { ownMetric } from './alarms.ts';

export type OverviewProps = {
  readonly compute: ComputeStack;
  readonly edge: EdgeStack;
  readonly alarms: Alarm[];
};

const columns = 24;
const period = Duration.minutes(5);

export class Overview extends Construct {
  constructor(scope: Construct, id: string, { compute, edge, alarms }: OverviewProps) {
    super(scope, id);
    const dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(3) });
    const { lostTurns, lostEvents, functions, socket } = compute;
    dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms, width: columns }));
    dashboard.addWidgets(
      graph('Turns', counted('turn', 'TurnsStarted', 'TurnsCompleted', 'TurnsFailed')),
      graph('Tool calls', counted('turn', 'ToolCalls', 'ToolCallsFailed')),
      graph('Leases', counted('turn', 'LeasesLost', 'LeasesContended')),
    );
    dashboard.addWidgets(
      graph('Sandboxes', [
        ...counted('turn', 'SandboxStartsCold', 'SandboxStartsFailed'),
        ...counted('task-events', 'SandboxesStopped'),
      ]),
      graph(
        'Sandbox start, ms',
        ['p50', 'p99'].map((statistic) => ownMetric('SandboxStartMs', 'turn', { statistic })),
      ),
      graph('Sweep', counted('janitor', 'SweepsDone', 'SweepDue')),
    );
    dashboard.addWidgets(
      graph('WebSocket', [
        ...['ConnectCount', 'MessageCount', 'ClientError', 'IntegrationError', 'ExecutionError'].map((name) =>
          socket.api.metric(name, { statistic: 'Sum', period }),
        ),
        ...counted('turn', 'SocketsGone'),
      ]),
      graph('REST', [
        edge.door.api.metricCount({ period }),
        edge.door.api.metricClientError({ period }),
        edge.door.api.metricServerError({ period }),
      ]),
      graph('Lost', [
        lostTurns.metricApproximateNumberOfMessagesVisible({ period }),
        lostEvents.metricApproximateNumberOfMessagesVisible({ period }),
      ]),
    );
    dashboard.addWidgets(
      graph(
        'Function errors',
        functions.all.map(({ lambda }) => lambda.metricErrors({ period })),
      ),
      graph(
        'Throttles',
        functions.all.map(({ lambda }) => lambda.metricThrottles({ period })),
      ),
      graph(
        'Duration p99, ms',
        functions.all.map(({ lambda }) => lambda.metricDuration({ period, statistic: 'p99' })),
      ),
    );
  }
}

const counted = (service: Parameters<typeof ownMetric>[1], ...names: readonly string[]): Metric[] =>
  names.map((name) => ownMetric(name, service));

const graph = (title: string, left: IMetric[]): GraphWidget =>
  new GraphWidget({ title, left, width: columns / 3 });
