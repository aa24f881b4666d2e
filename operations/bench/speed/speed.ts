/**
 * The speed of the platform beside floors of the same run, as ratios: an absolute time holds on no other machine.
 *
 * Each figure is a median, and its floor is measured before and after it. A target that is missed is printed as missed; it fails
 * nothing, since other work on the machine could make it so.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { type BenchResult, table } from '../report.ts';
import { coldFigures } from './cold-figures.ts';
import { crowdFigure, replayFigure } from './crowd-figures.ts';
import {
  compareRuns,
  decodeRun,
  type Figure,
  figureHead,
  figureRow,
  type Run,
  verdictOf,
  written,
} from './figures.ts';
import { memoryFigures, serverFigures } from './memory-figures.ts';
import { startModelServer, startPlatform } from './platform.ts';
import { sandboxFigures } from './sandbox-figures.ts';
import { turnFigures } from './turn-figures.ts';

export type SpeedOptions = {
  /** The file that gets the run. */
  readonly json?: string | undefined;
  /** The file of a former run. */
  readonly against?: string | undefined;
  /** Of each figure and each floor; the fewest where a try takes long. */
  readonly tries: number;
  /** The parts to measure; absent: all. */
  readonly only?: readonly string[] | undefined;
};

export const speed = async ({ json, against, tries, only }: SpeedOptions): Promise<BenchResult> => {
  const former = against === undefined ? undefined : decodeRun(await readFile(against, 'utf8'));
  const loadBefore = loadNow();
  const figures = await measureAll(tries, (part) => only === undefined || only.includes(part));
  const run: Run = {
    at: new Date().toISOString(),
    machine: {
      ...{ cpus: availableParallelism(), node: process.version },
      ...{ loadBefore, loadAfter: loadNow() },
    },
    figures: [...figures],
  };
  if (json !== undefined) await writeFile(json, `${JSON.stringify(run, undefined, 2)}\n`);
  const { cpus, node } = run.machine;
  return {
    title: `speed beside floors of the same run: medians of ${tries} tries on ${cpus} CPUs with Node ${node}; the load was ${written(loadBefore)} before and ${written(run.machine.loadAfter)} after, and other work on the machine is in all of them`,
    text: [
      table(figureHead, figures.map(figureRow)),
      ...(former === undefined ? [] : [comparison(former, run)]),
    ].join('\n\n'),
    floor: summaryOf(figures),
    isMet: true,
    failsNothing: true,
  };
};

const loadNow = (): number => loadavg()[0] ?? Number.NaN;

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

const parts = ['cold', 'servers', 'memory', 'turns', 'sandboxes', 'replay', 'crowd'] as const;
type Part = (typeof parts)[number];

const measureAll = async (tries: number, isWanted: (part: Part) => boolean): Promise<readonly Figure[]> => {
  const figures: Figure[] = [];
  const measure = async (part: Part, work: () => Promise<readonly Figure[]>): Promise<void> => {
    if (!isWanted(part)) return;
    progress(`Measuring: ${part}`);
    figures.push(...(await work()));
  };
  await measure('cold', () => coldFigures(tries));
  await measure('servers', () => serverFigures(tries));
  await using closing = new AsyncDisposableStack();
  const model = await startModelServer();
  closing.defer(model.stop);
  const platform = await startPlatform({
    ...{ LLM_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: model.url },
    MODEL: 'claude',
  });
  closing.defer(platform.stop);
  await measure('memory', () => memoryFigures(platform));
  await measure('turns', () => turnFigures(platform, { modelUrl: model.url, tries: tries * 2 }));
  await measure('sandboxes', () => sandboxFigures(platform, tries));
  await measure('replay', async () => [await replayFigure(platform, tries)]);
  await measure('crowd', async () => [await crowdFigure(platform, Math.ceil(tries / 3))]);
  return figures;
};

const comparison = (former: Run, now: Run): string =>
  table(
    [`compared with ${former.at}`, 'before', 'now', 'factor', ''],
    compareRuns(former, now).map((change) => [
      ...[change.name, written(change.before), written(change.now), written(change.factor), change.is],
    ]),
  );

const summaryOf = (figures: readonly Figure[]): string => {
  const verdicts = figures.map(verdictOf);
  const met = verdicts.filter((verdict) => verdict === 'met').length;
  return `${met} of ${verdicts.filter((verdict) => verdict !== '').length} targets are met`;
};
