/**
 * The output of the program: results on stdout, everything about them on stderr, tables and fact lists.
 *
 * With `--json` stdout holds JSON alone. Colours are for terminals, and never with NO_COLOR. Foreign text goes through
 * `line`, `note`, `text` or a table cell, which remove terminal controls; `raw` writes bytes that the user requested.
 */
import { once } from 'node:events';
import { stripControls, toJson } from './control-characters.ts';
import { describeFailure, type ErrorBody } from './failure.ts';
import type { Host, OutputStream } from './host.ts';
import { columnsOf, cutColumns, padColumns } from './text-width.ts';

export type Output = {
  readonly isJson: boolean;
  /** The result of a command: the value with `--json`, else the lines. */
  readonly result: (value: unknown, lines: () => readonly string[]) => void;
  readonly line: (text: string) => void;
  readonly note: (text: string) => void;
  /** Text without a line end. */
  readonly text: (text: string, stream?: 'stdout' | 'stderr') => void;
  readonly raw: (chunk: string | Uint8Array, stream?: 'stdout' | 'stderr') => Promise<void>;
  readonly failure: (body: ErrorBody) => void;
  readonly dim: (text: string) => string;
};

export const makeOutput = ({ stdout, stderr, variables }: Host, isJson: boolean): Output => {
  const isColoured = stdout.isTTY === true && !variables['NO_COLOR'] && variables['TERM'] !== 'dumb';
  const write = (stream: OutputStream, text: string): void => void stream.write(text);
  const line = (text: string): void => write(stdout, `${text}\n`);
  return {
    isJson,
    result: (value, lines) => {
      if (isJson) line(toJson(value, 2));
      else for (const one of lines()) line(one);
    },
    line: (text) => line(stripControls(text)),
    note: (text) => write(stderr, `${stripControls(text)}\n`),
    text: (text, name = 'stdout') => write(name === 'stdout' ? stdout : stderr, text),
    raw: async (chunk, name = 'stdout') => {
      const stream = name === 'stdout' ? stdout : stderr;
      // The error of a stream is heard by the program; the one that waits is no second reporter of it.
      if (!stream.write(chunk)) await once(stream, 'drain').catch(() => undefined);
    },
    failure: (body) => {
      const lines = isJson ? [toJson(body, 2)] : describeFailure(body);
      write(stderr, `${lines.join('\n')}\n`);
    },
    dim: (text) => (isColoured ? `\x1b[2m${text}\x1b[22m` : text),
  };
};

export type Cell = string | number | boolean | null | undefined;

const cellColumnsMax = 80;

const shown = (cell: Cell): string => {
  const text = stripControls(cell === null || cell === undefined ? '-' : String(cell));
  return cutColumns(text.replaceAll(/[\n\t]/g, ' '), cellColumnsMax);
};

/** Rows in columns, each as wide as its widest cell; without rows the text for an empty list, if there is one. */
export const tableLines = (
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty?: string,
): readonly string[] => {
  if (rows.length === 0 && empty !== undefined) return [empty];
  const cells = [heads, ...rows.map((row) => row.map(shown))];
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => columnsOf(row[column] ?? ''))));
  return cells.map((row) =>
    row
      .map((cell, column) => padColumns(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

/** Names and values, one pair a line, without missing values. */
export const factLines = (facts: readonly (readonly [string, Cell])[]): readonly string[] => {
  const known = facts.filter(([, value]) => value !== undefined && value !== null && value !== '');
  const width = Math.max(0, ...known.map(([name]) => columnsOf(name)));
  return known.map(([name, value]) => `${padColumns(name, width)}  ${shown(value)}`);
};
