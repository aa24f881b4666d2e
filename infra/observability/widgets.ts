/** Widgets of the dashboard: a row is three graphs, a heading, or tables of log lines. */
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Figure } from '#shared/config/figures.ts';
import type { Monitored, PlatformMetrics } from './monitored.ts';
import type { Query } from './queries.ts';

export type Row = readonly IWidget[];

export const columns = 24;
const third = columns / 3;

export const graph = (title: string, left: readonly IMetric[]): GraphWidget =>
  new GraphWidget({ title, left: [...left], width: third, leftYAxis: { min: 0 } });

/** Sums: how often each happened. */
export const counts = (metric: PlatformMetrics, title: string, ...names: readonly string[]): GraphWidget =>
  graph(
    title,
    names.map((name) => metric(name)),
  );

/** Percentiles in milliseconds, and the number of samples. */
export const times = (metric: PlatformMetrics, title: string, name: string): GraphWidget =>
  new GraphWidget({
    title,
    width: third,
    left: ['p50', 'p95', 'p99'].map((statistic) => metric(name, { statistic, label: statistic })),
    right: [metric(name, { statistic: Stats.SAMPLE_COUNT, label: 'count' })],
    leftYAxis: { min: 0, label: 'ms' },
    rightYAxis: { min: 0 },
  });

/** A percentile with its target as a line. */
export const besideTarget = (
  metric: PlatformMetrics,
  { metric: name, label, unit, target: { percentile, most } }: Figure,
): GraphWidget =>
  new GraphWidget({
    title: `${label}: ${percentile} at most ${most} ${unit}`,
    width: third,
    left: ['p50', 'p95'].map((statistic) => metric(name, { statistic, label: statistic })),
    leftAnnotations: [{ value: most, label: `target of ${percentile}` }],
    leftYAxis: { min: 0, label: unit },
  });

export const logTable = (
  { functions }: Monitored,
  { name, lines }: Query,
  width: number = columns / 2,
): LogQueryWidget =>
  new LogQueryWidget({
    title: name,
    logGroupNames: functions.map(({ lambda }) => lambda.logGroup.logGroupName),
    queryLines: lines.map((line) => line.replace(/^\| /, '')),
    view: LogQueryVisualizationType.TABLE,
    width,
    height: 6,
  });

export const text = (markdown: string, height: number): TextWidget =>
  new TextWidget({ markdown, width: columns, height });

/** The meaning of a section, with a link to the runbook. */
export const heading = (
  { runbookUrl }: Monitored,
  title: string,
  { says, anchor }: { readonly says: string; readonly anchor: string },
): Row => [text(`## ${title}\n${says} [Runbook](${runbookUrl}#${anchor})`, 2)];
