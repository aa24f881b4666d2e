/**
 * The verdicts of a run of many test files, kept in a file: a run that was ended goes on where it was.
 *
 * They hold for one state of the repository, and those of another are dropped. A test file with a fault is run again.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export type Verdict = {
  readonly file: string;
  readonly summary: string;
  readonly seconds: number;
  readonly faults: readonly string[];
};

export type Verdicts = {
  readonly of: (file: string) => Verdict | undefined;
  readonly hasPassed: (file: string) => boolean;
  readonly record: (verdict: Verdict) => Promise<void>;
};

type Kept = { readonly state: string; readonly verdicts: readonly Verdict[] };

export const openVerdicts = async (path: string, state: string): Promise<Verdicts> => {
  const kept = existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as Kept) : undefined;
  const verdicts = new Map(
    kept?.state === state ? kept.verdicts.map((verdict) => [verdict.file, verdict] as const) : [],
  );
  return {
    of: (file) => verdicts.get(file),
    hasPassed: (file) => verdicts.get(file)?.faults.length === 0,
    record: async (verdict) => {
      verdicts.set(verdict.file, verdict);
      await mkdir(dirname(path), { recursive: true });
      // A run that ends while it writes leaves the last whole file.
      await writeFile(`${path}.next`, JSON.stringify({ state, verdicts: [...verdicts.values()] }, null, 1));
      await rename(`${path}.next`, path);
    },
  };
};
