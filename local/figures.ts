/**
 * Figures of one machine. Metrics there are lines of the functions' log, in the format that CloudWatch reads (embedded metric
 * format), and their percentiles are exact. The log is bounded, so older figures are gone.
 */
import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Figures, figures, type Measured, type ReleaseFigures } from '#shared/config/figures.ts';
import { parseJson } from './endpoint/http-messages.ts';

type Emitted = Readonly<Record<string, unknown>> & { readonly _aws?: { readonly Timestamp: number } };

const logsOf = (home: string): readonly string[] =>
  ['functions.log.1', 'functions.log'].map((name) => join(home, 'logs', name));

/** Of the values since `from`, in epoch milliseconds. */
export const localFigures = async (home: string, from: number): Promise<Figures> => {
  const values = new Map<string, number[]>();
  for (const file of logsOf(home)) {
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const emitted of text.split('\n').flatMap(emittedBy)) {
      if ((emitted._aws?.Timestamp ?? 0) < from) continue;
      for (const { metric } of figures) {
        const known = values.get(metric) ?? [];
        known.push(...[emitted[metric] ?? []].flat().map(Number));
        values.set(metric, known);
      }
    }
  }
  return Object.fromEntries(
    [...values].flatMap(([metric, all]) => (all.length === 0 ? [] : [[metric, measuredOf(all)]])),
  );
};

/** None by a line that a kill or a full disk has cut. */
const emittedBy = (line: string): readonly Emitted[] => {
  if (!line.includes('"CloudWatchMetrics"')) return [];
  const emitted = parseJson(line.slice(line.indexOf('{'))) as Emitted | undefined;
  return emitted === undefined ? [] : [emitted];
};

const measuredOf = (values: readonly number[]): Measured => {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
};

type Release = { readonly version: string; readonly last?: ReleaseFigures };

const ownVersion = (): string =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')).version;

const releaseFile = (home: string): string => join(home, 'release.json');

/** Undefined before the first start, and for a file that was cut. */
export const localRelease = async (home: string): Promise<Release | undefined> =>
  parseJson(await readFile(releaseFile(home), 'utf8').catch(() => '')) as Release | undefined;

/** At a start: another version than at the last one keeps the figures of that, before a request is taken. */
export const noteRelease = async (home: string, now: number, version = ownVersion()): Promise<void> => {
  const before = await localRelease(home);
  if (before?.version === version) return;
  const until = new Date(now).toISOString();
  const last = before && { version: before.version, until, figures: await localFigures(home, 0) };
  const release: Release = { version, ...(last && { last }) };
  const draft = `${releaseFile(home)}.tmp`;
  await writeFile(draft, `${JSON.stringify(release)}\n`, { mode: 0o600 });
  await rename(draft, releaseFile(home));
};
