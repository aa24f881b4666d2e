import { expect, test } from 'vitest';
import { metricsOfAlarms } from '../stacks/shown-metrics.ts';
import { ofType, synthesise, type Template } from '../stacks/synthesise.ts';

const { observability } = synthesise();

type Stated = {
  readonly Metric: { readonly Namespace: string; readonly MetricName: string };
  readonly Stat: string;
  readonly Period: number;
};
type MetricEntry = { readonly MetricStat?: Stated; readonly Expression?: string };

/** Those that ring when nothing is heard, by what they wait for. */
const silences = (template: Template) =>
  Object.entries(template.Resources)
    .filter(([, { Properties }]) => Properties.TreatMissingData === 'breaching')
    .map(([id, { Properties }]) => {
      const { Metrics = [], EvaluationPeriods, ComparisonOperator, Threshold } = Properties;
      const stats = Metrics.flatMap(({ MetricStat: stat }: MetricEntry) => stat ?? []);
      expect({ ComparisonOperator, Threshold }).toEqual({
        ...{ ComparisonOperator: 'LessThanThreshold', Threshold: 1 },
      });
      return {
        alarm: id.replace(/^Alarms|[0-9A-F]{8}$/g, ''),
        seen: stats.map(({ Metric, Stat }: Stated) => `${Metric.Namespace} ${Metric.MetricName} ${Stat}`),
        seconds: stats.map(({ Period }: Stated) => Period * EvaluationPeriods),
        expression: Metrics.find(({ Expression }: MetricEntry) => Expression !== undefined)?.Expression,
      };
    })
    .toSorted((one, other) => one.alarm.localeCompare(other.alarm));

test('treat silence as a fault where it is one, and count it from the first period that is empty', () => {
  const one = 'FILL(m0, 0)';
  expect(silences(observability)).toEqual([
    {
      ...{ alarm: 'JanitorSilent', seen: ['Sallyport SweepDue SampleCount'] },
      ...{ seconds: [300], expression: one },
    },
    { alarm: 'SealsMissing', seen: ['AWS/Events Invocations Sum'], seconds: [7200], expression: one },
    {
      ...{ alarm: 'SweepsMissing', seen: ['AWS/Lambda Invocations Sum', 'AWS/Lambda Invocations Sum'] },
      ...{ seconds: [900, 900], expression: 'MIN([FILL(m0, 0), FILL(m1, 0)])' },
    },
    {
      ...{ alarm: 'SyntheticMissingsandbox', seen: ['Sallyport SyntheticSandboxMs SampleCount'] },
      ...{ seconds: [7200], expression: one },
    },
    {
      ...{ alarm: 'SyntheticMissingturn', seen: ['Sallyport SyntheticTurnMs SampleCount'] },
      ...{ seconds: [900], expression: one },
    },
  ]);
});

test('do not wait for checks that are switched off', () => {
  const off = synthesise({ settings: { variables: { SYNTHETIC_CHECK: 'false' } } }).observability;
  expect(silences(off).map((silence) => silence.alarm)).toEqual([
    ...['JanitorSilent', 'SealsMissing', 'SweepsMissing'],
  ]);
  expect(JSON.stringify(ofType(off, 'AWS::CloudWatch::Alarm'))).not.toContain('Synthetic');
});

test('wait for the rules of the seals, the schedules and the webhooks', () => {
  const [seals, ...sweeps] = metricsOfAlarms(observability).filter(({ name }) => name === 'Invocations');
  expect(seals?.dimensions).toEqual({ RuleName: expect.stringContaining('Sweepseals') });
  expect(sweeps.map(({ dimensions }) => dimensions['FunctionName']).toSorted()).toEqual([
    expect.stringContaining('FunctionsschedulesFunction'),
    expect.stringContaining('FunctionswebhooksFunction'),
  ]);
});
