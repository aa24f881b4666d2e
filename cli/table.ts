/** Rows in columns, as wide as their widest cell; what a cell holds is stripped of terminal controls. */
import { stripControls } from './control-characters.ts';

export type Cell = string | number | boolean | null | undefined;

const cellCharactersMax = 80;

const shown = (cell: Cell): string => {
  const text = stripControls(cell === null || cell === undefined ? '-' : String(cell)).replaceAll('\n', ' ');
  return text.length > cellCharactersMax ? `${text.slice(0, cellCharactersMax - 1)}…` : text;
};

export const tableLines = (
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
): readonly string[] => {
  const cells = [heads, ...rows.map((row) => row.map(shown))];
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

/** A thing's facts, one per line; what it has not is left out. */
export const factLines = (facts: readonly (readonly [string, Cell])[]): readonly string[] => {
  const known = facts.filter(([, value]) => value !== undefined && value !== null && value !== '');
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`);
};
