/** A process that runs seeds for `main.ts`, a chunk at a time, and reports what became of each. */
import { type Counts, Coverage } from './coverage.ts';
import type { ClassName } from './faults.ts';
import { reportOf } from './report.ts';
import { type Run, runSeed } from './run.ts';

export type Chunk = {
  readonly first: number;
  readonly seeds: number;
  readonly on: readonly ClassName[];
  /** Goes on after a broken promise. */
  readonly isAll: boolean;
};

export type Report = {
  readonly first: number;
  readonly steps: number;
  readonly met: Counts;
  /** The report of each seed that broke a promise. */
  readonly broken: readonly string[];
};

const linesShown = Number(process.argv[2]);
const stackLines = 30;
let running = 0;

/** Collecting stacks of the errors that a world expects takes a tenth of its time: a seed that breaks a promise is run again with them. */
const runOnce = async (seed: number, on: ReadonlySet<ClassName>): Promise<Run> => {
  Error.stackTraceLimit = 0;
  const run = await runSeed(seed, on);
  Error.stackTraceLimit = stackLines;
  return run.broken === undefined ? run : runSeed(seed, on);
};

const runChunk = async ({ first, seeds, on, isAll }: Chunk): Promise<Report> => {
  const coverage = new Coverage();
  const broken: string[] = [];
  let steps = 0;
  for (let seed = first; seed < first + seeds && (isAll || broken.length === 0); seed += 1) {
    running = seed;
    const run = await runOnce(seed, new Set(on));
    steps += run.steps;
    coverage.add(run.met);
    if (run.broken !== undefined) broken.push(reportOf(run, { linesShown, on }));
  }
  return { first, steps, met: coverage.counts, broken };
};

process.on('unhandledRejection', (error) => {
  const stack = error instanceof Error ? error.stack : error;
  process.stdout.write(
    `seed ${running} breaks a promise\n  a function handles what its ports throw: ${stack}\n`,
  );
  process.exit(1);
});
process.on('message', async (chunk: Chunk) => process.send?.(await runChunk(chunk)));
