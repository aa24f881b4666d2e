/** The report of a bench: a table, the floor beside it, and the verdict. */

export type BenchResult = {
  readonly title: string;
  readonly text: string;
  /** The bound that must hold. */
  readonly floor: string;
  readonly isMet: boolean;
  /** The verdicts are in the text, and none fails the run. */
  readonly failsNothing?: true;
};

type Cell = string | number;

export const table = (head: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const texts = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const lines = texts.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('   '));
  return lines.map((line) => `  ${line}`).join('\n');
};

export const print = ({ title, text, floor, isMet, failsNothing }: BenchResult): void => {
  const verdict = failsNothing ? floor : `floor: ${floor}: ${isMet ? 'met' : 'NOT MET'}`;
  process.stdout.write(`${title}\n${text}\n  ${verdict}\n\n`);
};
