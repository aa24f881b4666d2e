/**
 * `npm run sim -- --seeds N [--from K]`: tries that many worlds on all cores, prints what they met, and stops at the first
 * broken promise. A kind of fault that never fired fails a long run, since nothing was proved about it.
 *
 * `--state FILE` keeps what is done: the same command goes on from there after an interruption. `--without CLASS,...`,
 * `--with CLASS,...` and `--only CLASS,...` choose classes of faults and worlds (`faults.ts`); `--all` goes on after a
 * broken promise; `--workers N`; `--lines N` of the trace.
 */
import { fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Counts, Coverage, coverageReport, expectedMet } from './coverage.ts';
import { allClasses, type ClassName, faultNames, standing } from './faults.ts';
import type { Chunk, Report } from './worker.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    lines: { type: 'string', default: '40' },
    workers: { type: 'string', default: String(availableParallelism()) },
    state: { type: 'string' },
    with: { type: 'string', default: '' },
    without: { type: 'string', default: '' },
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});

const classesIn = (text: string): readonly ClassName[] =>
  text
    .split(',')
    .filter((name) => name !== '')
    .map((name) => {
      const found = allClasses.find((one) => one === name);
      if (found === undefined) throw new Error(`there is no class ${name}: ${allClasses.join(', ')}`);
      return found;
    });

const [seeds, from] = [Number(values.seeds), Number(values.from)];
const chosen = values.only === undefined ? [...standing, ...classesIn(values.with)] : classesIn(values.only);
const without = classesIn(values.without);
const on = [...new Set(chosen)].filter((name) => !without.includes(name));

const chunkSeeds = 20;
/** Node keeps the signals of functions that died in the middle of something: half a megabyte a world. */
const chunksPerWorker = 25;
const progressSeeds = 500;
/** A shorter run need not meet every fault. */
const longRunSeeds = 400;

type State = { readonly done: number[]; steps: number; met: Counts; readonly broken: string[] };

const { state: stateFile } = values;
const state: State =
  stateFile !== undefined && existsSync(stateFile)
    ? JSON.parse(readFileSync(stateFile, 'utf8'))
    : { done: [], steps: 0, met: {}, broken: [] };
const coverage = new Coverage();
coverage.add(state.met);

const keep = (): void => {
  state.met = coverage.counts;
  if (stateFile !== undefined) writeFileSync(stateFile, JSON.stringify(state));
};

const wanted = Array.from({ length: Math.ceil(seeds / chunkSeeds) }, (_, index) => from + index * chunkSeeds);
const chunks = wanted
  .filter((first) => !state.done.includes(first))
  .map(
    (first): Chunk => ({ first, seeds: Math.min(chunkSeeds, from + seeds - first), on, isAll: values.all }),
  );
const startedAt = performance.now();
const isOver = (): boolean => state.broken.length > 0 && !values.all;

const record = ({ first, steps, met, broken }: Report): void => {
  state.done.push(first);
  state.steps += steps;
  coverage.add(met);
  state.broken.push(...broken);
  for (const report of broken) process.stdout.write(`${report}\n`);
  const held = state.done.length * chunkSeeds;
  if (broken.length === 0 && held % progressSeeds === 0) process.stdout.write(`${held} seeds\n`);
  keep();
};

/** A world makes much that is soon forgotten. */
const memoryArgs = ['--min-semi-space-size=64', '--max-semi-space-size=64', '--single-threaded-gc'];

const workForAWhile = (): Promise<void> =>
  new Promise((resolve) => {
    const execArgv = [...process.execArgv, ...memoryArgs];
    const child = fork(join(import.meta.dirname, 'worker.ts'), [values.lines], { execArgv });
    let begun = 0;
    const next = (): void => {
      const chunk = isOver() || begun === chunksPerWorker ? undefined : chunks.shift();
      begun += 1;
      if (chunk === undefined) child.disconnect();
      else child.send(chunk);
    };
    child.on('message', (report: Report) => {
      record(report);
      next();
    });
    child.on('exit', (code) => {
      if (code !== 0) state.broken.push(`a worker ended with ${code}`);
      resolve();
    });
    next();
  });

const work = async (): Promise<void> => {
  while (chunks.length > 0 && !isOver()) await workForAWhile();
};

await Promise.all(Array.from({ length: Math.min(Number(values.workers), chunks.length) }, work));
const missing = [
  ...faultNames(new Set(on))
    .map((name) => `fault/${name}`)
    .filter((name) => !(name in coverage.counts)),
  ...expectedMet.filter((name) => !(name in coverage.counts)),
];
const isLong = state.done.length * chunkSeeds >= longRunSeeds;
const seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(
  `${coverageReport(coverage.counts, missing)}\n${state.steps} steps in ${seconds.toFixed(1)} s, ${seeds} seeds from ${from}; on: ${on.join(' ')}; broken: ${state.broken.length}\n`,
);
if (state.broken.length > 0 || (isLong && missing.length > 0)) process.exitCode = 1;
