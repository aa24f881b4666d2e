/**
 * Metrics, queries and links of a template's dashboard and alarms, read back for tests.
 *
 * References to resources are written as `<name>`: an import by the name it is exported under, a reference by its logical id.
 */
import { ofType, type Template } from './synthesise.ts';

export type ShownMetric = {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
};

type Widget = {
  readonly type: string;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly query?: string;
    readonly metrics?: readonly (readonly unknown[])[];
  };
};

export const widgetsOf = (template: Template): readonly Widget[] =>
  ofType(template, 'AWS::CloudWatch::Dashboard').flatMap(
    ({ Properties }) => JSON.parse(plain(Properties.DashboardBody)).widgets as readonly Widget[],
  );

export const metricsOfDashboard = (template: Template): readonly ShownMetric[] =>
  widgetsOf(template).flatMap(({ properties: { metrics = [] } }) => metrics.flatMap(metricOf));

export const metricsOfAlarms = (template: Template): readonly ShownMetric[] =>
  ofType(template, 'AWS::CloudWatch::Alarm').flatMap(({ Properties: alarm }) => {
    const stats = (alarm.Metrics ?? []).flatMap((entry: { MetricStat?: { Metric: object } }) =>
      entry.MetricStat === undefined ? [] : [entry.MetricStat.Metric],
    );
    return (alarm.Metrics === undefined ? [alarm] : stats).map(watchedMetric);
  });

/** `<a> | <b>` of the log tables, as Logs Insights gets them, without the sources. */
export const queriesOfDashboard = (template: Template): readonly string[] =>
  widgetsOf(template).flatMap(({ properties: { query } }) =>
    query === undefined ? [] : [query.replace(/^(?:SOURCE '[^']*' \| )+/, '')],
  );

/** By which statistics the dashboard shows a metric of ours. */
export const statisticsOf = (template: Template, name: string): readonly string[] =>
  widgetsOf(template)
    .flatMap(({ properties: { metrics = [] } }) => metrics)
    .filter((entry) => entry[1] === name)
    .map((entry) => (entry.at(-1) as { readonly stat: string }).stat);

type Watched = {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
};

const watchedMetric = ({ Namespace, MetricName, Dimensions = [] }: Watched): ShownMetric => ({
  namespace: Namespace,
  name: MetricName,
  dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, plain(Value)])),
});

/** `[namespace, name, dimension, value, …, options]`; an expression is options alone. */
const metricOf = (entry: readonly unknown[]): readonly ShownMetric[] => {
  const [namespace, name, ...rest] = entry.filter((part) => typeof part === 'string');
  if (namespace === undefined || name === undefined) return [];
  const pairs = Array.from({ length: rest.length / 2 }, (_, index) => rest.slice(2 * index, 2 * index + 2));
  return [{ namespace, name, dimensions: Object.fromEntries(pairs) }];
};

type Intrinsic = {
  readonly Ref?: string;
  readonly 'Fn::GetStackOutput'?: { readonly StackName: string; readonly OutputName: string };
  readonly 'Fn::GetAtt'?: readonly string[];
  readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
};

const plain = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  const {
    Ref: ref,
    'Fn::GetStackOutput': output,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
  } = value as Intrinsic;
  if (join !== undefined) return join[1].map(plain).join(join[0]);
  return `<${ref ?? output?.OutputName ?? attribute?.join('.')}>`;
};
