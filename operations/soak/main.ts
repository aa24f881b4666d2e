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
import { table } from '../bench/report.ts';
import { checkRecord } from './check-record.ts';
import type { AuditLine, Sample, SoakRecord } from './record.ts';
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
  const lines = checkRecord(record);
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

const problemsShownMax = 5;

const reportOf = (
  record: SoakRecord,
  faults: Readonly<Record<string, number>>,
  lines: readonly AuditLine[],
): string => {
  const work = Object.entries(Object.groupBy(record.sessions, ({ work: kind }) => kind));
  const problems = lines.flatMap(({ name, problems: all }) => [
    ...all.slice(0, problemsShownMax).map((problem) => `  ${name}: ${problem}`),
    ...(all.length > problemsShownMax ? [`  ${name}: ${all.length - problemsShownMax} more`] : []),
  ]);
  return [
    '',
    table(
      ['work', 'sessions'],
      work.map(([kind, sessions = []]) => [kind, sessions.length]),
    ),
    table(['fault', 'times'], Object.entries(faults)),
    table(['minute', 'memory (MB)', 'open files', 'a plain turn (ms)'], minutesOf(record)),
    table(
      ['audit', 'looked at', ''],
      lines.map(({ name, checked, problems: found }) => [name, checked, verdictOf(checked, found.length)]),
    ),
    ...problems,
    '',
  ].join('\n\n');
};

/** A check that saw nothing has shown nothing. */
const verdictOf = (checked: number, problems: number): string => {
  if (problems > 0) return `FAILED (${problems})`;
  return checked === 0 ? 'nothing to see' : 'ok';
};

/** The means of each minute. */
const minutesOf = ({ samples }: SoakRecord): readonly (readonly [number, number, number, number])[] =>
  [...Map.groupBy(samples, ({ minute }) => minute)].map(([minute, some]) => {
    const mean = (values: readonly number[]): number =>
      Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
    const of = (name: keyof Sample): number => mean(some.map((one) => one[name]));
    return [minute + 1, of('memoryMb'), of('descriptors'), of('latencyMs')];
  });

const summaryOf = (
  record: SoakRecord,
  more: {
    readonly seed: number;
    readonly faults: Readonly<Record<string, number>>;
    readonly lines: readonly AuditLine[];
  },
): object => ({
  seed: more.seed,
  sessions: record.sessions.length,
  messages: record.sessions.reduce((sum, { sent }) => sum + sent.length, 0),
  events: record.sessions.reduce((sum, { events }) => sum + events.length, 0),
  faults: more.faults,
  audit: more.lines,
  minutes: minutesOf(record).map(([minute, memoryMb, descriptors, latencyMs]) => ({
    ...{ minute, memoryMb, descriptors, latencyMs },
  })),
});

process.exit((await main()) ? 0 : 1);
