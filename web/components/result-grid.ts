/** Tables of results, as a person reads them: the table of a data frame, the data of a chart, a list of records. Pure. */
import type { Chart, ChartSeries, Table } from '#sdk/code-results.ts';

export type Cell = string | number | boolean | null;
type GridColumn = { readonly name: string; readonly isNumber: boolean };
export type Grid = {
  readonly columns: readonly GridColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** Rows of the whole, of which these are the first. */
  readonly rowCount: number;
  /** Columns of the whole that are not here. */
  readonly columnsLeftOut: number;
};

export const gridOfTable = ({ fields, rows, rowCount, columnCount }: Table): Grid => {
  const columns = fields.map((field) => ({ name: String(field?.name), type: field?.type }));
  const grid = gridOf(
    columns.map(({ name }) => name),
    rows.map((row) => columns.map(({ name, type }) => cellOf(row?.[name], type))),
  );
  return {
    ...grid,
    rowCount: Number(rowCount) || grid.rowCount,
    columnsLeftOut: Math.max(0, Number(columnCount) - fields.length) || 0,
  };
};

const recordsMin = 2;
const recordFieldsMax = 50;

/** Undefined for a list of anything but objects with plain values. */
export const gridOfRecords = (value: unknown): Grid | undefined => {
  if (!Array.isArray(value) || value.length < recordsMin || !value.every(isRecord)) return undefined;
  const names = [...new Set(value.flatMap((record) => Object.keys(record)))];
  if (names.length === 0 || names.length > recordFieldsMax) return undefined;
  return gridOf(
    names,
    value.map((record) => names.map((name) => cellOf(record[name]))),
  );
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((one) => typeof one !== 'object' || one === null);

/** Code may have displayed anything as a chart: one that cannot be read is not shown. */
export const isReadable = (chart: Chart): boolean => {
  const { axes, series } = chart as {
    readonly axes?: { readonly x?: unknown; readonly y?: unknown };
    readonly series: readonly unknown[];
  };
  return isObject(axes?.x) && isObject(axes.y) && series.every(hasValues);
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const hasValues = (series: unknown): boolean => {
  const { points, values } = (series ?? {}) as { readonly points?: unknown; readonly values?: unknown };
  const listed = points ?? values;
  return (
    Array.isArray(listed) &&
    listed.every((one) => (points === undefined ? isObject(one) : Array.isArray(one)))
  );
};

/** Series side by side where they have the same places, else one below the other. */
export const gridOfChart = ({ axes, series }: Chart): Grid => {
  const [across, up] = [words(axes.x.label), words(axes.y.label)];
  const names = series.map(({ label }, index) => words(label) || up || `series ${index + 1}`);
  const listed = series.map(pairsOf);
  const places = listed[0]?.map(([place]) => place) ?? [];
  const isShared =
    new Set(places).size === places.length &&
    listed.every((pairs) => pairs.length === places.length && pairs.every(([at], row) => at === places[row]));
  const first = across || (series.some(({ type }) => type === 'bar' || type === 'pie') ? 'label' : 'x');
  if (isShared)
    return gridOf(
      [first, ...names],
      places.map((place, row) => [place, ...listed.map((pairs) => pairs[row]?.[1] ?? null)]),
    );
  return gridOf(
    ['series', first, up || 'y'],
    listed.flatMap((pairs, index) => pairs.map((pair) => [names[index] ?? '', ...pair])),
  );
};

/** Code may have written anything into its chart. */
const words = (value: unknown): string => (typeof value === 'string' ? value : '');

const pairsOf = (series: ChartSeries): readonly (readonly [Cell, Cell])[] =>
  'points' in series
    ? series.points.map(([x, y]) => [cellOf(x), cellOf(y)])
    : series.values.map(({ label, value }) => [cellOf(label), cellOf(value)]);

export const chartLabel = ({ type, title, series }: Chart): string => {
  const named = series.flatMap(({ label }) => words(label) || []);
  const kind =
    words(type) === '' || type === 'mixed' ? 'Chart' : `${type[0]?.toUpperCase()}${type.slice(1)} chart`;
  return [
    words(title) === '' ? kind : `${kind}: ${title}`,
    ...(named.length === 0 ? [] : [named.join(', ')]),
  ].join('. ');
};

const gridOf = (names: readonly string[], rows: readonly (readonly Cell[])[]): Grid => ({
  columns: names.map((name, index) => ({ name, isNumber: isNumberColumn(rows, index) })),
  ...{ rows, rowCount: rows.length, columnsLeftOut: 0 },
});

const isNumberColumn = (rows: readonly (readonly Cell[])[], index: number): boolean =>
  rows.some((row) => typeof row[index] === 'number') &&
  rows.every((row) => typeof row[index] === 'number' || row[index] === null);

const midnight = /^(\d{4}-\d{2}-\d{2})T(?:00:){2}00(?:\.0+)?Z?$/;
const time = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.0+)?(?=Z?$)/;

const cellOf = (value: unknown, type?: string): Cell => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string') return JSON.stringify(value);
  return type === 'datetime' ? value.replace(midnight, '$1').replace(time, '$1 $2') : value;
};

const digitsShown = 8;

export const cellText = (cell: Cell): string => {
  if (typeof cell !== 'number') return cell === null ? '–' : String(cell);
  return String(Number.isInteger(cell) ? cell : Number(cell.toPrecision(digitsShown)));
};

export const csvOf = ({ columns, rows }: Grid): string =>
  [columns.map(({ name }) => name), ...rows.map((row) => row.map((cell) => (cell === null ? '' : `${cell}`)))]
    .map((row) => `${row.map(quoted).join(',')}\n`)
    .join('');

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
