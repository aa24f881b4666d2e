/**
 * Metrics that alarms and dashboard read, beside the lines that the runtime of the functions writes: those that CloudWatch makes our
 * metrics of, and those that its metric filters count.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { environments } from '#shared/config/environment.ts';
import { type MetricName, metricNames } from '#shared/domain/metrics.ts';
import { inRepository } from '../constructs/repository-path.ts';
import { metricsOfAlarms, metricsOfDashboard, type ShownMetric, widgetsOf } from '../stacks/shown-metrics.ts';
import { ofType, synthesise } from '../stacks/synthesise.ts';

const { observability } = synthesise();
const alarms = ofType(observability, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
const shown = [...metricsOfAlarms(observability), ...metricsOfDashboard(observability)];

/** By computed names, since the rules of these tests are not those under which the functions compile (infra/tsconfig.json). */
const runtimeModule = inRepository('shared/adapters/lambda/lambda-runtime.ts');
const refusalModule = inRepository('shared/application/access/record-refusal.ts');

type Telemetry = {
  readonly count: (metric: MetricName, value?: number) => void;
  readonly duration: (metric: MetricName, milliseconds: number) => void;
};
type Line = Readonly<Record<string, unknown>>;

/** The lines of one invocation of a function, as Lambda has them from its process. */
const linesOf = async (run: (telemetry: Telemetry) => void): Promise<readonly Line[]> => {
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { openLambdaRuntime } = await import(runtimeModule);
  const written: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const write = vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    onTestFinished(() => void write.mockRestore());
  }
  const { telemetry, handler } = openLambdaRuntime('api', 'sallyport');
  await handler(async () => run(telemetry))({}, { awsRequestId: 'one' });
  return written
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
};

/** The embedded metric format (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html). */
type Emf = {
  readonly CloudWatchMetrics: readonly {
    readonly Namespace: string;
    readonly Dimensions: readonly (readonly string[])[];
    readonly Metrics: readonly { readonly Name: string }[];
  }[];
};

const emittedIn = (lines: readonly Line[]): readonly ShownMetric[] =>
  lines.flatMap((line) =>
    ((line['_aws'] as Emf | undefined)?.CloudWatchMetrics ?? []).flatMap(
      ({ Namespace, Dimensions, Metrics }) =>
        Dimensions.flatMap((names) =>
          Metrics.map(({ Name }) => ({
            namespace: Namespace,
            name: Name,
            dimensions: Object.fromEntries(names.map((name) => [name, String(line[name])])),
          })),
        ),
    ),
  );

const keyOf = (metric: ShownMetric): string => JSON.stringify(metric);

test('every metric of ours that is read is one that the runtime emits, by namespace, name and dimensions', async () => {
  const emitted = emittedIn(
    await linesOf((telemetry) => {
      for (const name of metricNames)
        if (name.endsWith('Ms')) telemetry.duration(name, 1);
        else telemetry.count(name);
    }),
  );
  const known = new Set(emitted.map(keyOf));
  const ours = shown.filter(({ namespace }) => namespace === 'Sallyport');
  expect(ours.length).toBeGreaterThan(metricNames.length);
  expect(ours.filter((metric) => !known.has(keyOf(metric)))).toEqual([]);
});

type Entry = { readonly MetricStat?: object; readonly Expression?: string };
const entriesOf = ({ Metrics = [] }: { readonly Metrics?: readonly Entry[] }): readonly Entry[] => Metrics;

describe('no metric is left out of these comparisons', () => {
  test('of an alarm', () => {
    const counts = alarms.map((alarm) =>
      alarm.Metrics === undefined ? 1 : entriesOf(alarm).filter(({ MetricStat }) => MetricStat).length,
    );
    expect(counts.filter((count) => count === 0)).toEqual([]);
    expect(metricsOfAlarms(observability)).toHaveLength(counts.reduce((sum, count) => sum + count, 0));
  });

  test('of the dashboard', () => {
    const rows = widgetsOf(observability).flatMap(({ properties: { metrics = [] } }) => metrics);
    const expressions = rows.filter((row) => row.length === 1);
    expect(metricsOfDashboard(observability)).toHaveLength(rows.length - expressions.length);
  });

  test('by an expression that finds its metrics itself', () => {
    const expressions = [
      ...alarms.flatMap(entriesOf).map(({ Expression }) => Expression ?? ''),
      ...widgetsOf(observability).flatMap(({ properties: { metrics = [] } }) =>
        metrics.map((row) => (row.length === 1 ? (row[0] as { expression: string }).expression : '')),
      ),
    ].filter((expression) => expression !== '');
    expect(expressions.length).toBeGreaterThan(5);
    expect(expressions.filter((one) => /SEARCH|METRICS|SELECT|INSIGHT/i.test(one))).toEqual([]);
  });

  test('of a namespace of ours that nothing writes', () => {
    const counted = ofType(observability, 'AWS::Logs::MetricFilter').flatMap(({ Properties }) =>
      Properties.MetricTransformations.map(
        ({ MetricNamespace, MetricName }: { MetricNamespace: string; MetricName: string }) =>
          keyOf({ namespace: MetricNamespace, name: MetricName, dimensions: {} }),
      ),
    );
    const filtered = shown.filter(
      ({ namespace }) => !namespace.startsWith('AWS/') && namespace !== 'Sallyport',
    );
    expect(new Set(filtered.map(keyOf))).toEqual(new Set(counted));
  });
});

const filtersOf = (metricName: string) =>
  ofType(observability, 'AWS::Logs::MetricFilter')
    .map(({ Properties }) => Properties)
    .filter(({ MetricTransformations: [made] }) => made.MetricName === metricName);

const sourceOf = ({ LogGroupName }: (typeof observability.Resources)[string]['Properties']): string =>
  /Functions(\w+?)Logs/.exec(LogGroupName['Fn::GetStackOutput'].OutputName)?.[1] ?? 'another group';

/** A pattern of equal fields, all of which must hold (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html). */
const matches = (pattern: string, line: Line): boolean => {
  const terms = [...pattern.matchAll(/\(\$\.(\w+) = "([^"]*)"\)/g)];
  expect(pattern).toBe(`{ ${terms.map(([term]) => term).join(' && ')} }`);
  return terms.every(([, field = '', value]) => line[field] === value);
};

/** The line of a refusal. */
const refusalLine = async (error: unknown): Promise<Line> => {
  const { recordRefusal } = await import(refusalModule);
  const lines = await linesOf((telemetry) => recordRefusal(telemetry, error, { resource: '/api/sessions' }));
  const [line] = lines.filter(({ level }) => level !== undefined);
  if (line === undefined) throw new Error('nothing was logged');
  return line;
};

describe('the alarm of faults', () => {
  const filters = filtersOf('Faults');

  test('counts the line of a request that failed, and not that of one that was refused', async () => {
    const { AppError } = await import(inRepository('shared/errors.ts'));
    const [fault, ours, refusal] = [
      await refusalLine(new TypeError('a bug')),
      await refusalLine(new AppError('internal_error', 'could not read a secret')),
      await refusalLine(new AppError('session_not_found', 'there is no session of this id')),
    ];
    expect(filters.length).toBeGreaterThan(0);
    for (const { FilterPattern } of filters)
      expect([fault, ours, refusal].map((line) => matches(FilterPattern, line))).toEqual([true, true, false]);
  });

  test('hears every function that answers a request which failed', () => {
    const heard = filters.map(sourceOf);
    // That of connections throws, so that Lambda counts its faults.
    const answering = Object.keys(environments).filter(
      (name) =>
        name !== 'authorizer' && modulesOf(inRepository(`functions/${name}/handler.ts`)).has(refusalModule),
    );
    expect(heard.toSorted()).toEqual(answering.map((name) => name.replaceAll('-', '')).toSorted());
  });
});

test('a connection without a valid token, which the authorizer can only refuse by failing, is not counted among its errors', async () => {
  const { AppError } = await import(inRepository('shared/errors.ts'));
  const [filter, ...others] = filtersOf('ConnectsUnauthenticated');
  expect([sourceOf(filter), others]).toEqual(['authorizer', []]);
  const lines = [
    await refusalLine(new AppError('unauthenticated', 'the token is not valid')),
    await refusalLine(new AppError('forbidden', 'a sign-in works only for pages of this origin')),
    await refusalLine(new TypeError('a bug')),
  ];
  expect(lines.map((line) => matches(filter?.FilterPattern, line))).toEqual([true, false, false]);
  const watched = alarms.find(({ Metrics }) => JSON.stringify(Metrics ?? '').includes('Unauthenticated'));
  expect(watched?.AlarmDescription).toContain('The function authorizer fails.');
  expect(entriesOf(watched).find(({ Expression }) => Expression)?.Expression).toBe(
    'FILL(errors, 0) - FILL(refused, 0)',
  );
});

const importLine = /^(?:import|export) (?!type )[^;]*?from '([^']+)'|\bimport\('([^']+)'\)/gm;

/** A module and all that it imports, but packages. */
const modulesOf = (path: string, found: Set<string> = new Set()): ReadonlySet<string> => {
  if (found.has(path) || !existsSync(path)) return found;
  found.add(path);
  for (const [, whole, late] of readFileSync(path, 'utf8').matchAll(importLine)) {
    const name = whole ?? late ?? '';
    if (name.startsWith('#')) modulesOf(inRepository(name.slice(1)), found);
    if (name.startsWith('.')) modulesOf(join(dirname(path), name), found);
  }
  return found;
};
