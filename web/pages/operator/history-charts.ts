/** Charts of the operator page: series for the drawing and a sentence for screen readers. Pure. */
import type { StatsHistory } from '#sdk/routes.ts';
import { count, duration } from '../../components/format.ts';

export type ChartTone = 'accent' | 'brass' | 'info' | 'bad';

type ChartSeries = {
  readonly label: string;
  readonly tone: ChartTone;
  readonly values: readonly (number | null)[];
};

export type Chart = {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Bars are stacked; lines are not, and break where data is missing. */
  readonly kind: 'bars' | 'lines' | 'steps';
  readonly format: (value: number) => string;
  readonly series: readonly ChartSeries[];
  readonly isEmpty: boolean;
};

type Point = StatsHistory['points'][number];
type Timing = Point['cold'];

const timing = ({ p50Ms, p95Ms }: Timing): string =>
  p50Ms === null || p95Ms === null ? '' : ` (median ${duration(p50Ms)}, 95th percentile ${duration(p95Ms)})`;

const of = (points: readonly Point[], value: (point: Point) => number | null): readonly (number | null)[] =>
  points.map(value);

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

const chart = (made: Omit<Chart, 'isEmpty'>): Chart => ({
  ...made,
  isEmpty: made.series.every(({ values }) =>
    made.kind === 'bars' ? sum(values) === 0 : values.every((value) => value === null),
  ),
});

const levelSummary = (name: string, values: readonly (number | null)[]): string | undefined => {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  return last === undefined ? undefined : `${name} ${count(last)} now, peak ${count(Math.max(...known))}`;
};

const levels = (points: readonly Point[]): Chart => {
  const all: readonly ChartSeries[] = [
    { label: 'Agent slots', tone: 'accent', values: of(points, ({ activeAgents }) => activeAgents) },
    {
      label: 'Execution slots',
      tone: 'info',
      values: of(points, ({ activeExecutions }) => activeExecutions),
    },
    { label: 'Sandboxes running', tone: 'brass', values: of(points, ({ sandboxes }) => sandboxes) },
  ];
  const series = all.filter(({ values }) => values.some((value) => value !== null));
  const parts = series.flatMap(({ label, values }) => levelSummary(label, values) ?? []);
  const summary = parts.length === 0 ? 'No data yet. Counted every few minutes.' : `${parts.join('; ')}.`;
  return chart({
    id: 'active',
    title: 'Active',
    summary,
    kind: 'steps',
    format: count,
    series: series.length === 0 ? all : series,
  });
};

export const historyCharts = ({ points, summary }: StatsHistory): readonly Chart[] => {
  const { cold, warm, startsFailed, approvals, errors } = summary;
  const failed = sum(Object.values(errors));
  const [worst] = Object.entries(errors).sort(([, one], [, other]) => other - one);
  return [
    levels(points),
    chart({
      id: 'starts',
      title: 'Sandbox starts',
      summary: `${count(cold.count)} cold${timing(cold)}, ${count(warm.count)} warm${timing(warm)}, ${count(startsFailed)} failed.`,
      kind: 'bars',
      format: count,
      series: [
        { label: 'Cold', tone: 'accent', values: of(points, (point) => point.cold.count) },
        { label: 'Warm', tone: 'brass', values: of(points, (point) => point.warm.count) },
        { label: 'Failed', tone: 'bad', values: of(points, (point) => point.startsFailed) },
      ],
    }),
    chart({
      id: 'start-times',
      title: 'Time to start',
      summary:
        cold.count + warm.count === 0
          ? 'No sandbox starts.'
          : `Cold starts${timing(cold) || ': none'}; warm starts${timing(warm) || ': none'}.`,
      kind: 'lines',
      format: duration,
      series: [
        { label: 'Cold, median', tone: 'accent', values: of(points, (point) => point.cold.p50Ms) },
        { label: 'Cold, 95th percentile', tone: 'info', values: of(points, (point) => point.cold.p95Ms) },
        { label: 'Warm, median', tone: 'brass', values: of(points, (point) => point.warm.p50Ms) },
      ],
    }),
    chart({
      id: 'approvals',
      title: 'Approvals decided',
      summary: `${count(approvals.count)} decided${timing(approvals)}.`,
      kind: 'bars',
      format: count,
      series: [{ label: 'Decided', tone: 'brass', values: of(points, (point) => point.approvals.count) }],
    }),
    chart({
      id: 'errors',
      title: 'Errors',
      summary:
        worst === undefined
          ? 'No errors.'
          : `${count(failed)} ${failed === 1 ? 'error' : 'errors'}, most often ${worst[0]} (${count(worst[1])}).`,
      kind: 'bars',
      format: count,
      series: [
        { label: 'Errors', tone: 'bad', values: of(points, (point) => sum(Object.values(point.errors))) },
      ],
    }),
  ];
};

/** Rows of a chart's table: newest first, without empty ones. */
export const rowsOf = (
  { series, kind }: Pick<Chart, 'series' | 'kind'>,
  times: readonly string[],
): readonly { readonly at: string; readonly values: readonly (number | null)[] }[] =>
  times
    .map((at, index) => ({ at, values: series.map(({ values }) => values[index] ?? null) }))
    .filter(({ values }) => values.some((value) => (kind === 'bars' ? (value ?? 0) > 0 : value !== null)))
    .reverse();
