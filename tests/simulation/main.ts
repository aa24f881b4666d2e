/** `npm run sim -- --seeds N [--from K] [--lines L]`: tries that many worlds and stops at the first broken promise. */
import { parseArgs } from 'node:util';
import { reportOf } from './report.ts';
import { runSeed } from './run.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    lines: { type: 'string', default: '40' },
  },
});
const [seeds, from] = [Number(values.seeds), Number(values.from)];
const progressSeeds = 500;
const startedAt = performance.now();
let steps = 0;
let running = from;
process.on('unhandledRejection', (error) => {
  process.stdout.write(
    `seed ${running} breaks a promise\n  a function handles what its ports throw: ${error}\n`,
  );
  process.exit(1);
});
for (let seed = from; seed < from + seeds; seed += 1) {
  running = seed;
  const run = await runSeed(seed);
  steps += run.steps;
  if (run.broken === undefined) {
    if ((seed - from + 1) % progressSeeds === 0) process.stdout.write(`${seed - from + 1} seeds hold\n`);
    continue;
  }
  process.stdout.write(`${reportOf(run, Number(values.lines))}\n`);
  process.exitCode = 1;
  break;
}
const seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(`${steps} steps in ${seconds.toFixed(1)} s, from seed ${from}\n`);
