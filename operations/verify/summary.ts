/** Summary of a run of proofs: a row for each, and each difference with what became of it. Pure. */
import type { Difference } from './proof.ts';

type Result = 'proved' | 'failed' | 'cannot be installed' | 'left out';

export type Row = {
  readonly name: string;
  readonly result: Result;
  /** Empty for a proof that was not made. */
  readonly version: string;
  readonly seconds: number;
  readonly faults: number;
  readonly differences: readonly Difference[];
};

export const summaryOf = (rows: readonly Row[]): string => {
  const cells = [
    ['part', 'result', 'faults', 'differences', 'time', 'held against'],
    ...rows.map(({ name, result, faults, differences, seconds, version }) => [
      ...[name, result, String(faults), String(differences.length), `${Math.round(seconds)} s`, version],
    ]),
  ];
  const found = rows.flatMap(({ name, differences }) => differences.map((one) => ({ name, ...one })));
  return [
    ...aligned(cells),
    '',
    found.length === 0 ? 'No differences.' : 'Differences, and what became of them:',
    ...found.map(({ name, what, became }) => `  ${name}, ${what}: ${became}`),
  ].join('\n');
};

/** Of the process: 1 if a proof failed, and 2 if none did but one was not made. */
export const exitCodeOf = (rows: readonly Row[]): number => {
  if (rows.some(({ result }) => result === 'failed')) return 1;
  return rows.some(({ result }) => result !== 'proved') ? 2 : 0;
};

/** Rows of text in columns, each as wide as its widest cell. */
export const aligned = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};
