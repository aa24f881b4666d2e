/**
 * Entry of `npm run soak`: mixed work on the platform of this machine with faults all along, then an audit.
 *
 * `npm run soak -- --minutes 60 --seed 7 --json soak.json`. It prints what it does each ten seconds and a table at the end; the
 * exit code is 1 when a line of the audit fails, and then the data folder stays.
 */
import { rm, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { provideSystemPrograms } from '../../local/system-programs.ts';
import { auditOf } from './audit.ts';
import { reportOf, summaryOf } from './report.ts';
import { soak } from './soak.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const number = (text: string, name: string): number => {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`--${name} ${text} is not a number`);
};

const main = async (): Promise<boolean> => {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      minutes: { ...text, default: '10' },
      seed: { ...text, default: String(Date.now() % 2 ** 31) },
      port: { ...text, default: '0' },
      'at-once': text,
      under: text,
      json: text,
    },
  });
  // biome-ignore lint/style/noProcessEnv: this is a program of its own, and this is its one read
  await provideSystemPrograms(process.env, print);
  const seed = number(values.seed, 'seed');
  print(`seed ${seed}, load ${loadavg()[0]?.toFixed(2)}`);
  const atOnce = values['at-once'] === undefined ? undefined : number(values['at-once'], 'at-once');
  const { record, faults, folder } = await soak({
    minutes: number(values.minutes, 'minutes'),
    ...{ seed, atOnce, under: values.under, progress: print },
    port: number(values.port, 'port'),
  });
  const lines = auditOf(record);
  print(reportOf(record, faults, lines));
  const summary = JSON.stringify(summaryOf(record, { seed, faults, lines }), undefined, 2);
  if (values.json === undefined) print(summary);
  else await writeFile(values.json, `${summary}\n`);
  const isClean = lines.every(({ problems }) => problems.length === 0);
  if (isClean) await rm(folder, { recursive: true, force: true });
  else {
    await writeFile(join(folder, 'record.json'), JSON.stringify(record));
    print(`the record and the data are in ${folder}`);
  }
  return isClean;
};

main().then(
  (isClean) => process.exit(isClean ? 0 : 1),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.stack : String(cause)}\n`);
    process.exit(1);
  },
);
