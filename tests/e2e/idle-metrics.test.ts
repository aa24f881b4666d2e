/** Metrics of an idle deployment: those that the bill counts, and no others. */
import { expect, test } from 'vitest';
import { customMetricsMax, metricNames } from '#shared/domain/metrics.ts';
import { checkMetrics, sweepMetrics } from '../../operations/cost/work.ts';
import { eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { isStrict } from './server.ts';

type Emitted = {
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly { readonly Metrics: readonly { readonly Name: string }[] }[];
  };
};

/** Strict mode invokes a function twice now and then; the second may find the lease of the first. */
const ofDoubledInvocations: readonly string[] = isStrict ? ['LeasesContended'] : [];

const metricsIn = (printed: string): ReadonlySet<string> =>
  new Set(
    printed
      .split('\n')
      .filter((line) => line.includes('"CloudWatchMetrics"'))
      .flatMap((line) => (JSON.parse(line) as Emitted)._aws?.CloudWatchMetrics ?? [])
      .flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name))
      .filter((name) => !ofDoubledInvocations.includes(name)),
  );

test('sweeps and checks emit the metrics that the idle cost counts, and no others', async () => {
  const cloud = await openEmbeddedCloud({ variables: { SYNTHETIC_CHECK: 'true' } });
  const sweepAll = async (): Promise<void> => {
    for (const sweep of ['due', 'slots', 'orphans', 'mcp']) await cloud.janitor({ sweep });
    await cloud.schedules({ sweep: 'schedules' });
  };
  try {
    await sweepAll();
    expect([...metricsIn(cloud.printed())].toSorted()).toEqual([...sweepMetrics].toSorted());
    for (const check of ['turn', 'sandbox']) await cloud.synthetic({ check, url: cloud.url });
    await eventually(cloud.runningTasks, (tasks) => tasks.length === 0);
    await sweepAll();
    const expected = [...sweepMetrics, ...checkMetrics].toSorted();
    expect([...metricsIn(cloud.printed())].toSorted()).toEqual(expected);
  } finally {
    await cloud.stop();
  }
});

test('the number of all metrics is within the limit', () => {
  expect(metricNames.length).toBeLessThanOrEqual(customMetricsMax);
});
