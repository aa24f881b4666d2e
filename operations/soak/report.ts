/** The report of a soak: the work done, the faults, the audit, and what the minutes cost. */
import { table } from '../bench/report.ts';
import type { AuditLine, Sample, SoakRecord } from './record.ts';

const problemsShownMax = 5;

export const reportOf = (
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

export const summaryOf = (
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
