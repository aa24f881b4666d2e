/** A proof at size: what is counted beside what is wanted, and the printed table. */
import { table } from '../../operations/bench/report.ts';

export type Finding = {
  readonly what: string;
  readonly counted: string | number;
  readonly wanted: string | number;
  readonly isMet: boolean;
};

export type Proof = (progress: (line: string) => void) => Promise<readonly Finding[]>;

/** A count that must be exactly this. */
export const exactly = (what: string, counted: number, wanted: number): Finding => ({
  ...{ what, counted, wanted },
  isMet: counted === wanted,
});

/** A measure that must not be exceeded. */
export const atMost = (what: string, counted: number, wanted: number): Finding => ({
  ...{ what, counted, wanted: `at most ${wanted}` },
  isMet: counted <= wanted,
});

export const atLeast = (what: string, counted: number, wanted: number): Finding => ({
  ...{ what, counted, wanted: `at least ${wanted}` },
  isMet: counted >= wanted,
});

export const printFindings = (title: string, findings: readonly Finding[]): void => {
  const rows = findings.map(({ what, counted, wanted, isMet }) => [
    ...[what, counted, wanted, isMet ? 'pass' : 'FAIL'],
  ]);
  process.stdout.write(`${title}\n${table(['', 'counted', 'wanted', ''], rows)}\n\n`);
};
