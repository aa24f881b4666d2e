/**
 * Entry of `npm run bench`: the cost of the platform's work, in counts, and in ratios to the floor of each figure.
 *
 * `npm run bench -- sweep` runs one of the benches. The exit code is 1 if a floor is not met. Nothing is measured by time
 * alone, since machines differ in speed.
 *
 * `npm run bench -- speed --json now.json --against before.json` writes the figures and compares them with an earlier run.
 */
import { parseArgs } from 'node:util';
import { provideSystemPrograms } from '../../local/system-programs.ts';
import { dayCost } from './day-cost.ts';
import { floodCost } from './flood-cost.ts';
import { forkCost } from './fork-cost.ts';
import { type BenchResult, print } from './report.ts';
import { scale } from './scale/scale.ts';
import { speed } from './speed/speed.ts';
import { backlogCost, sweepCost } from './sweep-cost.ts';
import { turnCost } from './turn-cost.ts';
import { waitCost } from './wait-cost.ts';
import { webCost } from './web-cost.ts';

type Flags = {
  readonly json?: string;
  readonly against?: string;
  readonly only?: string;
  readonly tries: string;
};

const benches: Readonly<Record<string, (flags: Flags) => Promise<BenchResult>>> = {
  turn: turnCost,
  sweep: sweepCost,
  backlog: backlogCost,
  flood: floodCost,
  fork: () => forkCost(),
  wait: waitCost,
  web: webCost,
  scale,
  day: () => dayCost(),
  speed: ({ only, tries, ...files }) => speed({ ...files, only: only?.split(','), tries: Number(tries) }),
};

const run = async (): Promise<boolean> => {
  const text = { type: 'string' } as const;
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { json: text, against: text, only: text, tries: { ...text, default: '9' } },
  });
  // biome-ignore lint/style/noProcessEnv: this is a program of its own, and this is its one read
  await provideSystemPrograms(process.env);
  const names = positionals.length === 0 ? Object.keys(benches) : positionals;
  let allMet = true;
  for (const name of names) {
    const bench = benches[name];
    if (bench === undefined)
      throw new Error(`there is no bench ${name}: use ${Object.keys(benches).join(', ')}`);
    const result = await bench(values);
    print(result);
    allMet &&= result.isMet;
  }
  return allMet;
};

run().then(
  (allMet) => process.exit(allMet ? 0 : 1),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(1);
  },
);
