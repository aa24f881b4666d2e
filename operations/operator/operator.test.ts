/** The operator's figures against a simulated account: its table, its exit codes, and the figures that a deploy keeps. */
import { expect, test } from 'vitest';
import { type Figures, figures } from '#shared/config/figures.ts';
import { metricNames } from '#shared/domain/metrics.ts';
import { deployCommand } from '../deploy/deploy.ts';
import { busyAccount, openMachine, usualFacts } from '../deploy/fixtures/machine.ts';
import { lastOf, onAws, tableOf, verdictOf } from './operator.ts';

const all = (p50: number, p95: number) => ({ count: 4, p50, p95, p99: p95 });
const now: Figures = {
  FirstDeltaMs: all(420, 31_000),
  ToolCallMs: all(1000, 9000),
  SessionCostUsd: all(0.01, 0.5),
};

/** As CloudWatch answers, for the order of the list. */
const answering = (measured: Figures) => ({
  ...usualFacts,
  'cloudwatch get-metric-data': {
    MetricDataResults: figures.flatMap(({ metric }, index) =>
      Object.entries(measured[metric] ?? {}).map(([name, value]) => ({
        Id: `f${index}${name}`,
        Values: [value],
      })),
    ),
  },
});

test('each figure is a metric of the platform', () => {
  expect(
    figures.map(({ metric }) => metric).filter((name) => !metricNames.some((one) => one === name)),
  ).toEqual([]);
});

test('a figure meets its target at the target itself, misses it above, and has no verdict without traffic', () => {
  expect(figures.map((figure) => [figure.metric, verdictOf(figure, now[figure.metric])])).toEqual([
    ['SandboxWarmStartMs', 'no traffic'],
    ['SandboxColdStartMs', 'no traffic'],
    ['FirstDeltaMs', 'missed'],
    ['ToolCallMs', 'met'],
    ['WorkspaceRestoreMs', 'no traffic'],
    ['SessionCostUsd', 'met'],
  ]);
});

test('the table has the last release beside it', () => {
  const last = {
    version: '0.1.0',
    until: '2026-11-26T10:00:00.000Z',
    figures: { FirstDeltaMs: all(300, 800) },
  };
  expect(tableOf(figures, now, last)[3]).toMatch(
    /^first delta of a turn +ms +4 +420 +31,000 +31,000 +p95 at most 30,000 +300 +800 +missed$/,
  );
  expect(lastOf(last)).toBe('The last release is 0.1.0, with its last figures of 2026-11-26T10:00:00.000Z.');
});

test('the command prints the table of a deployment, and fails on request alone', async () => {
  const machine = openMachine({ ...busyAccount, has: answering(now) });
  const { code, out, error } = await machine.run(onAws, ['--hours', '6']);
  expect([code, error]).toEqual([0, '']);
  expect(out).toMatch(/^Deployment sallyport, the last 6 h\n/);
  expect(out).toContain('There are no figures of an earlier release.');
  const asked = machine.calls.find((call) => call.includes('get-metric-data')) ?? '';
  expect(asked).toContain('"Dimensions":[{"Name":"deployment","Value":"sallyport"}]');
  expect(asked).toContain('"Period":21600');
  expect(await machine.run(onAws, ['--strict'])).toMatchObject({
    ...{ code: 1, error: expect.stringMatching(/^missed: first delta of a turn\n/) },
  });
  expect(await machine.run(onAws, ['--hours', '25'])).toMatchObject({
    ...{ code: 1, error: '--hours is 25, and not a whole number from 1 to 24\n' },
  });
});

test('a deploy keeps the figures of the release that leaves, and the command shows them', async () => {
  const machine = openMachine({ ...busyAccount, has: answering(now) });
  const steps = ['get-metric-data', 'cdk deploy', 'put-parameter'];
  expect((await machine.run(deployCommand, ['--yes', '--no-check'])).code).toBe(0);
  const order = machine.calls.flatMap((call) => steps.find((step) => call.includes(step)) ?? []);
  expect(order).toEqual(steps);
  expect(JSON.parse(machine.state.parameters['/sallyport/sallyport/release'] ?? '')).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    last: { version: 'unknown', until: expect.any(String), figures: now },
  });
  const { out } = await machine.run(onAws, []);
  expect(out).toMatch(/first delta of a turn .* 420 +31,000 +missed/);
  expect(out).toContain('The last release is unknown');
});

test('a deploy by a person who may not read metrics goes on without them', async () => {
  const machine = openMachine({
    ...busyAccount,
    refuses: { 'cloudwatch get-metric-data': 'AccessDenied' },
  });
  expect((await machine.run(deployCommand, ['--yes', '--no-check'])).code).toBe(0);
  expect(JSON.parse(machine.state.parameters['/sallyport/sallyport/release'] ?? '')).not.toHaveProperty(
    'last',
  );
  expect(await machine.run(onAws, [])).toMatchObject({
    ...{ code: 1, error: expect.stringMatching(/^the metrics cannot be read\n/) },
  });
});
