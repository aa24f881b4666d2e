import { describe, expect, test } from 'vitest';
import { metricNames } from '#shared/domain/metrics.ts';
import { ofType, synthesise } from '../synthesise.ts';

const { observability } = synthesise();
const alarms = ofType(observability, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
const alarmOn = (metric: string) => alarms.filter(({ MetricName }) => MetricName === metric);

describe('alarms', () => {
  test('each names the heading of the runbook that says what to do, and tells the topic', () => {
    expect(
      alarms.map(({ AlarmDescription }) => AlarmDescription.split('docs/runbook.md#')[1]).sort(),
    ).toEqual([
      ...Array.from({ length: 8 }, () => 'function-errors'),
      'function-throttles',
      'janitor-not-running',
      'leases-lost',
      'lost-events',
      'lost-turns',
      'sandbox-starts-failed',
      'turn-errors',
    ]);
    for (const { AlarmActions } of alarms)
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Topic/) }]);
  });

  test('a janitor that says nothing is one that does not run', () => {
    expect(alarmOn('SweepsDone')).toMatchObject([
      {
        Namespace: 'Sallyport',
        Dimensions: [{ Name: 'service', Value: 'janitor' }],
        ComparisonOperator: 'LessThanThreshold',
        Threshold: 1,
        EvaluationPeriods: 2,
        Period: 300,
        TreatMissingData: 'breaching',
      },
    ]);
  });

  test('one lost message is enough', () => {
    expect(alarmOn('ApproximateNumberOfMessagesVisible')).toMatchObject([
      { Threshold: 1, EvaluationPeriods: 1, TreatMissingData: 'notBreaching' },
      { Threshold: 1, EvaluationPeriods: 1, TreatMissingData: 'notBreaching' },
    ]);
  });

  test('every function that fails is noticed', () => {
    expect(alarmOn('Errors')).toHaveLength(8);
  });

  test('an operator can be told by mail', () => {
    const told = synthesise({ settings: { alarmEmails: ['operator@example.com'] } }).observability;
    expect(ofType(told, 'AWS::SNS::Subscription').map(({ Properties }) => Properties)).toMatchObject([
      { Protocol: 'email', Endpoint: 'operator@example.com' },
    ]);
  });
});

test('every metric of ours that is watched is one the platform emits', () => {
  const body = JSON.stringify(ofType(observability, 'AWS::CloudWatch::Dashboard')).replaceAll('\\', '');
  const shown = [...body.matchAll(/"Sallyport","([A-Za-z]+)"/g)].map(([, name]) => name);
  const watched = alarms
    .filter(({ Namespace }) => Namespace === 'Sallyport')
    .map(({ MetricName }) => MetricName as string);
  expect(shown.length).toBeGreaterThan(10);
  const emitted: readonly string[] = metricNames;
  expect([...shown, ...watched].filter((name) => !emitted.includes(name ?? ''))).toEqual([]);
});
