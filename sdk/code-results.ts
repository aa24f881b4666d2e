/**
 * Results of code as data: the table of a data frame, and what a chart has drawn.
 *
 * A bundle comes from code that may write anything into it: what has another shape is no table, and no chart.
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

export const tableOf = (bundle: ResultBundle): Table | undefined => {
  const { schema, data, rows, columns } = objectOf(bundle[tableType]);
  const { fields } = objectOf(schema);
  if (!isListOf(fields, isField) || !isListOf(data, isObject)) return undefined;
  return {
    fields: fields.map(({ name, type }) => ({
      name: String(name),
      type: typeof type === 'string' ? type : 'any',
    })),
    rows: data,
    rowCount: typeof rows === 'number' ? rows : data.length,
    columnCount: typeof columns === 'number' ? columns : fields.length,
  };
};

/** One for each pair of axes of a figure; none for a result that is no chart, or whose data are not known. */
export const chartsOf = (bundle: ResultBundle): readonly Chart[] => {
  const figure = objectOf(bundle[chartType]);
  const charts = figure['type'] === 'figure' ? figure['charts'] : [figure];
  return isListOf(charts, isChart) ? charts : [];
};

const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isListOf = <One>(value: unknown, is: (one: unknown) => one is One): value is readonly One[] =>
  Array.isArray(value) && value.every(is);

const isField = (value: unknown): value is { readonly name: string | number; readonly type?: unknown } =>
  isObject(value) && (typeof value['name'] === 'string' || typeof value['name'] === 'number');

const isChart = (value: unknown): value is Chart => {
  const { title, axes, series } = objectOf(value);
  const { x, y } = objectOf(axes);
  return typeof title === 'string' && isAxis(x) && isAxis(y) && isListOf(series, isSeries);
};

const isAxis = (value: unknown): value is ChartAxis => typeof objectOf(value)['label'] === 'string';

const isSeries = (value: unknown): value is ChartSeries => {
  const { label, points, values } = objectOf(value);
  return typeof label === 'string' && (isListOf(points, isPoint) || isListOf(values, isObject));
};

const isPoint = (value: unknown): value is readonly [Coordinate, Coordinate] =>
  Array.isArray(value) && value.length === 2;
