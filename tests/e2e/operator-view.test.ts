/**
 * Dashboard and alarms show the metrics that a run emits, and no others: each scenario happens in an embedded cloud,
 * and the metrics of the lines it printed are compared with those of the synthesised template.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type EmittedMetric, isEmitted, linesOf, metricsOf } from './observed.ts';
import { scenarios, slotsMax } from './operator-scenarios.ts';

type Shown = {
  readonly dashboard: readonly EmittedMetric[];
  readonly alarms: readonly EmittedMetric[];
  readonly queries: readonly string[];
};

/** By computed names, since the types of CDK do not compile under the rules of these tests (infra/tsconfig.json). */
const synthesiser = join(import.meta.dirname, '..', '..', 'infra', 'stacks', 'synthesise.ts');
const shownMetrics = join(import.meta.dirname, '..', '..', 'infra', 'stacks', 'shown-metrics.ts');

/** Metrics and queries in the template of a deployment with the name of the embedded cloud. */
const shownInTemplate = async (): Promise<Shown> => {
  const { synthesise } = await import(synthesiser);
  const { metricsOfAlarms, metricsOfDashboard, queriesOfDashboard } = await import(shownMetrics);
  const { observability } = synthesise({ settings: { deployment: 'local' } });
  return {
    dashboard: metricsOfDashboard(observability),
    alarms: metricsOfAlarms(observability),
    queries: queriesOfDashboard(observability),
  };
};

let shown: Shown;

let cloud: EmbeddedCloud;
beforeAll(async () => {
  shown = await shownInTemplate();
  cloud = await openEmbeddedCloud({
    variables: {
      LLM_PROVIDER: 'demo',
      ANTHROPIC_API_KEY: 'sk-nobody',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      MODEL_PRICES: JSON.stringify({ 'demo/demo': { input: 1, output: 1 } }),
      SYNTHETIC_CHECK: 'true',
      POOL_SIZE: '1',
      MSB_DEFAULT_FLAVOR: 'micro',
      MSB_MAX_SESSIONS: String(slotsMax),
      MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      MCP_CHECK_SECONDS: '1',
    },
  });
});
afterAll(() => cloud.stop());

const textOf = ({ namespace, name, dimensions }: EmittedMetric): string =>
  `${namespace} ${name} ${JSON.stringify(dimensions)}`;
const ours = (metrics: readonly EmittedMetric[]): readonly string[] => [
  ...new Set(metrics.filter(({ namespace }) => namespace === 'Sallyport').map(textOf)),
];

describe('it is emitted when', () => {
  test.each(Object.entries(scenarios))('%s', async (_, { happens, metrics }) => {
    await happens(cloud);
    await eventually(
      () => Promise.resolve(metrics.filter((name) => !isEmitted(cloud, name))),
      (missing) => missing.length === 0,
      20_000,
    );
  });
});

test('every widget has data, and every metric is shown', () => {
  const emitted = ours(metricsOf(linesOf(cloud)));
  expect([...emitted].sort()).toEqual([...ours(shown.dashboard)].sort());
});

test('no alarm waits for a metric that is never emitted', () => {
  const emitted = ours(metricsOf(linesOf(cloud)));
  expect(ours(shown.alarms).filter((metric) => !emitted.includes(metric))).toEqual([]);
});

/** Fields that Logs Insights makes itself, and words of its language. */
const notFields =
  /^(?:fields|filter|stats|sort|limit|desc|asc|by|as|in|and|count|count_distinct|sum|min|max|pct|latest|ispresent|@\w+|\d+)$/;

test('the tables of the dashboard use emitted events and their fields', () => {
  const lines = linesOf(cloud);
  const unknown = shown.queries.flatMap((query) => {
    const events = [...query.matchAll(/"([a-z_]+)"/g)].map(([, event = '']) => event);
    const said = lines.filter((line) => events.includes(String(line['event'])));
    const made = [...query.matchAll(/ as (\w+)/g)].map(([, name = '']) => name);
    const fields = [...query.replaceAll(/"[^"]*"/g, '').matchAll(/@?[A-Za-z_]\w*/g)]
      .map(([field]) => field)
      .filter((field) => !notFields.test(field) && !made.includes(field));
    return [
      ...events.filter((event) => !said.some((line) => line['event'] === event)),
      ...fields.filter((field) => !said.some((line) => Object.hasOwn(line, field))),
    ];
  });
  expect(unknown).toEqual([]);
});
