/** The operator's figures as a table: figures beside their targets and those of the last release. Pure. */
import type { Figure, Figures, Measured, ReleaseFigures } from '#shared/config/figures.ts';

export type Verdict = 'met' | 'missed' | 'no traffic';

export const verdictOf = ({ target }: Figure, measured: Measured | undefined): Verdict => {
  if (measured === undefined || measured.count === 0) return 'no traffic';
  return measured[target.percentile] <= target.most ? 'met' : 'missed';
};

const head = [
  ...['figure', 'unit', 'count', 'p50', 'p95', 'p99', 'target', 'last p50', 'last p95', ''],
] as const;

export const tableOf = (
  list: readonly Figure[],
  now: Figures,
  last: ReleaseFigures | undefined,
): readonly string[] => {
  const rows = list.map((figure) => {
    const measured = now[figure.metric];
    const before = last?.figures[figure.metric];
    const shown = (value: number | undefined): string => textOf(figure, value);
    return [
      ...[figure.label, figure.unit, String(measured?.count ?? 0)],
      ...[shown(measured?.p50), shown(measured?.p95), shown(measured?.p99)],
      `${figure.target.percentile} at most ${shown(figure.target.most)}`,
      ...[shown(before?.p50), shown(before?.p95), verdictOf(figure, measured)],
    ];
  });
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 || column === cells.length - 1
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)];
};

const textOf = ({ unit }: Figure, value: number | undefined): string => {
  if (value === undefined) return '–';
  return unit === 'USD' ? value.toFixed(4) : Math.round(value).toLocaleString('en-US');
};

export const lastOf = (last: ReleaseFigures | undefined): string =>
  last === undefined
    ? 'There are no figures of an earlier release.'
    : `The last release is ${last.version}, with its last figures of ${last.until}.`;
