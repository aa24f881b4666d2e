/** Coverage of runs: the faults that fired, and the states and transitions that were met, each with its count. */
import type { takenReasons } from '#shared/domain/idle-sandbox.ts';

/** A kind, a slash and a name. */
type Met =
  `${'fault' | 'turn' | 'call' | 'sandbox' | 'session' | 'slot' | 'meter' | 'relay' | 'rule' | 'grant' | 'usage' | 'trial' | 'world'}/${string}`;

export type Counts = Readonly<Record<string, number>>;

export class Coverage {
  readonly #counts = new Map<string, number>();

  hit(met: Met): void {
    this.#counts.set(met, (this.#counts.get(met) ?? 0) + 1);
  }

  add(counts: Counts): void {
    for (const [met, times] of Object.entries(counts))
      this.#counts.set(met, (this.#counts.get(met) ?? 0) + times);
  }

  get counts(): Counts {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  times(met: Met): number {
    return this.#counts.get(met) ?? 0;
  }
}

/** Those of docs/spec/turn.md, by the state before and after. */
const expectedTransitions = [
  'idle→thinking',
  'idle→done',
  'done→thinking',
  'done→done',
  'thinking→done',
  'thinking→deciding',
  'thinking→acting',
  'deciding→deciding',
  'deciding→acting',
  'deciding→thinking',
  'deciding→done',
  'acting→acting',
  'acting→thinking',
  'acting→done',
] as const;

/** An idle sandbox was taken: a run that never takes one for each reason proves nothing about L5. */
export const takenAs = (why: keyof typeof takenReasons): `taken: ${string}` => `taken: ${why}`;

/** A long run has to meet these. */
export const expectedMet: readonly string[] = [
  ...expectedTransitions.map((name) => `turn/${name}`),
  ...(['idle', 'slot'] as const).map((why) => `sandbox/${takenAs(why)}`),
];

/** The report of a run: a line per kind, and what was never met. */
export const coverageReport = (counts: Counts, missing: readonly string[]): string => {
  const kinds = Map.groupBy(Object.entries(counts), ([met]) => met.slice(0, met.indexOf('/')));
  const lines = [...kinds].map(([kind, met]) => {
    const shown = met.map(([name, times]) => `${name.slice(kind.length + 1)} ${times}`);
    return `  ${kind}: ${shown.join(', ')}`;
  });
  return [...lines, ...(missing.length === 0 ? [] : [`  never met: ${missing.join(', ')}`])].join('\n');
};
