/**
 * Results of code as data: the table of a data frame, and what a chart has drawn.
 *
 * Their form is that of the platform's own results. Code may display anything under the same types: what has no columns is no
 * table, and what has no series is no chart; nothing deeper is checked.
 */

/** One result, with each of its forms under its MIME type. */
export type ResultBundle = Readonly<Record<string, unknown>>;

export const tableType = 'application/vnd.dataresource+json';
export const chartType = 'application/vnd.sallyport.chart+json';

/** A data frame or series of pandas: the first rows, the names of its columns in order, and the size of the whole. */
export type Table = {
  /** The index is first; `type` is one of Table Schema: `integer`, `number`, `string`, `boolean`, `datetime`, `any` and others. */
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number;
  /** Without those of the index. */
  readonly columnCount: number;
};

/** A number; a text for names and times (ISO 8601); null where there is no value. */
export type Coordinate = number | string | null;
export type ChartSeries =
  | {
      readonly type: 'line' | 'scatter';
      readonly label: string;
      readonly points: readonly (readonly [x: Coordinate, y: Coordinate])[];
    }
  | {
      /** The values of a pie are shares of one. */
      readonly type: 'bar' | 'pie';
      readonly label: string;
      readonly direction?: 'vertical' | 'horizontal';
      readonly values: readonly { readonly label: Coordinate; readonly value: Coordinate }[];
    };
export type Chart = {
  readonly type: ChartSeries['type'] | 'mixed';
  readonly title: string;
  readonly axes: { readonly x: ChartAxis; readonly y: ChartAxis };
  readonly series: readonly ChartSeries[];
};
/** `scale` is as matplotlib names it: `linear`, `log` and others. */
export type ChartAxis = { readonly label: string; readonly scale: string };

// biome-ignore lint/suspicious/noExplicitAny: whatever code displayed
type Loose = any;

export const tableOf = (bundle: ResultBundle): Table | undefined => {
  const table = bundle[tableType] as Loose;
  const fields = table?.schema?.fields;
  const rows = table?.data;
  if (!Array.isArray(fields) || !Array.isArray(rows)) return undefined;
  return {
    fields,
    rows,
    rowCount: table.rows ?? rows.length,
    columnCount: table.columns ?? fields.length,
  };
};

/** One for each pair of axes of a figure; none for a result that is no chart, or whose data are not known. */
export const chartsOf = (bundle: ResultBundle): readonly Chart[] => {
  const figure = bundle[chartType] as Loose;
  const charts = figure?.charts ?? [figure];
  return Array.isArray(charts) ? charts.filter((chart: Loose) => Array.isArray(chart?.series)) : [];
};
