/** The widgets of the dashboard: a row is three graphs, or a heading, or tables of log lines. */
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { OwnMetrics, Watched } from './monitored.ts';
import type { Query } from './queries.ts';

export type Row = readonly IWidget[];

export const columns = 24;
const third = columns / 3;

export const graph = (title: string, left: readonly IMetric[], width: number = third): GraphWidget =>
  new GraphWidget({ title, left: [...left], width, leftYAxis: { min: 0 } });

/** How often it happened. */
export const counts = (own: OwnMetrics, title: string, ...names: readonly string[]): GraphWidget =>
  graph(
    title,
    names.map((name) => own(name)),
  );

/** What is usual, what is slow and what is slowest, in milliseconds, and how many there were. */
export const times = (own: OwnMetrics, title: string, name: string): GraphWidget =>
  new GraphWidget({
    title,
    width: third,
    left: ['p50', 'p95', 'p99'].map((statistic) => own(name, { statistic, label: statistic })),
    right: [own(name, { statistic: Stats.SAMPLE_COUNT, label: 'how many' })],
    leftYAxis: { min: 0, label: 'ms' },
    rightYAxis: { min: 0 },
  });

export const logTable = (
  { functions }: Watched,
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

/** What a section is for, and where the runbook goes on. */
export const heading = (
  { runbookUrl }: Watched,
  title: string,
  { says, anchor }: { readonly says: string; readonly anchor: string },
): Row => [text(`## ${title}\n${says} [Runbook](${runbookUrl}#${anchor})`, 2)];
