import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { metricNames } from '#shared/domain/metrics.ts';
import { bundleHandler } from '../constructs/bundle.ts';
import { inRepository } from '../constructs/repository.ts';
import { named, ofType, synthesise } from '../synthesise.ts';

const { observability } = synthesise();
const alarms = ofType(observability, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
const alarmOn = (metric: string) => alarms.filter(({ MetricName }) => MetricName === metric);

describe('alarms', () => {
  test('each names the heading of the runbook that says what to do, and tells the topic', () => {
    expect(
      alarms.map(({ AlarmDescription }) => AlarmDescription.split('docs/runbook.md#')[1]).sort(),
    ).toEqual([
      ...Array.from({ length: 10 }, () => 'function-errors'),
      'function-throttles',
      'janitor-not-running',
      'leases-lost',
      'lost-events',
      'lost-turns',
      'orphans-stopped',
      'places-corrected',
      'sandbox-starts-failed',
      'sandbox-stops-failed',
      'scheduled-runs-failed',
      'turn-errors',
      'workspace-restores-incomplete',
      'workspace-saves-failed',
    ]);
    for (const { AlarmActions } of alarms)
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Topic/) }]);
  });

  test('each of those headings is in the runbook, and the runbook has no other', () => {
    const [, chapter = ''] = readFileSync(inRepository('docs/runbook.md'), 'utf8').split('\n## Alarms\n');
    const headings = Array.from(chapter.matchAll(/^### (.+)$/gm), ([, heading = '']) =>
      heading.toLowerCase().replaceAll(' ', '-'),
    );
    const anchors = alarms.map(({ AlarmDescription }) => AlarmDescription.split('docs/runbook.md#')[1]);
    expect(headings.sort()).toEqual([...new Set(anchors)].sort());
  });

  test('a janitor that says nothing for five minutes is one that does not run', () => {
    expect(alarmOn('SweepsDone')).toMatchObject([
      {
        Namespace: 'Sallyport',
        Dimensions: [{ Name: 'service', Value: 'janitor' }],
        ComparisonOperator: 'LessThanThreshold',
        Threshold: 1,
        EvaluationPeriods: 5,
        Period: 60,
        TreatMissingData: 'breaching',
      },
    ]);
  });

  test('one is enough of what is not to happen, and a stop is asked three times', () => {
    const once = { ComparisonOperator: 'GreaterThanOrEqualToThreshold', Threshold: 1, EvaluationPeriods: 1 };
    const byName = (prefix: string) =>
      named(observability, 'AWS::CloudWatch::Alarm', `Alarms${prefix}`).Properties;
    for (const name of [
      'OrphansStopped',
      'PlacesCorrected',
      'WorkspaceSavesFailed',
      'WorkspaceRestoresIncomplete',
    ])
      expect(byName(name)).toMatchObject({ ...once, TreatMissingData: 'notBreaching' });
    expect(byName('SandboxStopsFailed')).toMatchObject({ ...once, EvaluationPeriods: 3 });
  });

  test('what several functions count is summed up: one of them is enough', () => {
    const { Metrics } = named(
      observability,
      'AWS::CloudWatch::Alarm',
      'AlarmsWorkspaceSavesFailed',
    ).Properties;
    const sums = Metrics.filter(({ Expression }: { Expression?: string }) => Expression !== undefined);
    expect(sums).toMatchObject([{ Expression: 'SUM(METRICS())', ReturnData: true }]);
    expect(Metrics.length).toBeLessThanOrEqual(10);
  });

  test('one lost message is enough', () => {
    expect(alarmOn('ApproximateNumberOfMessagesVisible')).toMatchObject([
      { Threshold: 1, EvaluationPeriods: 1, TreatMissingData: 'notBreaching' },
      { Threshold: 1, EvaluationPeriods: 1, TreatMissingData: 'notBreaching' },
    ]);
  });

  test('every function that fails is noticed', () => {
    expect(alarmOn('Errors')).toHaveLength(10);
  });

  test('an operator can be told by mail', () => {
    const told = synthesise({ settings: { alarmEmails: ['operator@example.com'] } }).observability;
    expect(ofType(told, 'AWS::SNS::Subscription').map(({ Properties }) => Properties)).toMatchObject([
      { Protocol: 'email', Endpoint: 'operator@example.com' },
    ]);
  });
});

describe('metrics of ours', () => {
  const body = JSON.stringify(ofType(observability, 'AWS::CloudWatch::Dashboard')).replaceAll('\\', '');

  test('all stand on the dashboard, searched in every function', () => {
    const shown = new Set(
      [...body.matchAll(/SEARCH\('\{Sallyport,service\} MetricName="([A-Za-z]+)"'/g)].map(([, name]) => name),
    );
    expect([...shown].sort()).toEqual([...metricNames].sort());
  });

  test.each(['TurnDurationMs', 'SandboxStartMs', 'WorkspaceSaveMs', 'WorkspaceRestoreMs'])(
    '%s is shown as what is usual, what is slow and what is slowest',
    (name) => {
      const statistics = [...body.matchAll(/MetricName="([A-Za-z]+)"', '(p\d+)'/g)].flatMap(
        ([, metric, statistic]) => (metric === name ? [statistic] : []),
      );
      expect(statistics).toEqual(['p50', 'p95', 'p99']);
    },
  );

  type Watched = { readonly MetricName: string; readonly Dimensions: readonly { readonly Value: string }[] };
  const watched = alarms.flatMap((alarm): readonly Watched[] =>
    [
      alarm,
      ...(alarm.Metrics ?? []).flatMap(({ MetricStat }: { MetricStat?: { Metric: object } }) =>
        MetricStat === undefined ? [] : [MetricStat.Metric],
      ),
    ].filter(({ Namespace }) => Namespace === 'Sallyport'),
  );

  test('that are watched are watched in every function whose code counts them, and in no other', () => {
    const names = Object.keys(environments) as FunctionName[];
    const code = new Map(names.map((name) => [name, bundled(name)]));
    const metrics = [...new Set(watched.map(({ MetricName }) => MetricName))].sort();
    const countedBy = (metric: string) => names.filter((name) => code.get(name)?.includes(`"${metric}"`));
    const watchedIn = (metric: string) =>
      watched.flatMap(({ MetricName, Dimensions }) =>
        MetricName === metric ? Dimensions.map(({ Value }) => Value) : [],
      );
    expect(metrics.map((metric) => [metric, watchedIn(metric).sort()])).toEqual(
      metrics.map((metric) => [metric, countedBy(metric).sort()]),
    );
    expect(metrics).toEqual([
      'LeasesLost',
      'OrphansStopped',
      'PlacesCorrected',
      'SandboxStartsFailed',
      'SandboxStopsFailed',
      'ScheduleRunsFailed',
      'SweepsDone',
      'TurnsFailed',
      'WorkspaceRestoresIncomplete',
      'WorkspaceSavesFailed',
    ]);
  });
});

const bundled = (name: FunctionName): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bundle-'));
  try {
    bundleHandler(name, folder);
    return readFileSync(join(folder, 'index.mjs'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
};
