/** Checks of what grew: counts of the host after all beside before, memory and latency as ratios of two minutes. */
import type { AuditLine, HostState, Sample, SoakRecord } from './record.ts';

/** Twice in between, a platform that was killed begins anew: what is compared has warmed up. */
export const memoryRatioMax = 1.5;
export const descriptorsRatioMax = 1.5;
/** Faults come when they come: what grows without end passes this bound, what is only shaken does not. */
export const latencyRatioMax = 4;
const secondMinute = 1;
export const host = ({ host: { before, after } }: SoakRecord): AuditLine => {
  const names: readonly (keyof HostState)[] = ['processes', 'ports', 'folders'];
  return {
    name: 'nothing is left on the host',
    checked: names.length,
    problems: names
      .filter((name) => after[name] > before[name])
      .map((name) => `${after[name]} ${name}, ${before[name]} at the start`),
  };
};

export const memory = ({ samples }: SoakRecord): AuditLine =>
  growth('memory stays', samples, { of: ({ memoryMb }) => memoryMb, ratioMax: memoryRatioMax });

/** Idle functions keep some for their next request: a platform at rest has not as few as at its start. */
export const descriptors = ({ samples }: SoakRecord): AuditLine =>
  growth('open files stay', samples, { of: ({ descriptors: open }) => open, ratioMax: descriptorsRatioMax });

export const latency = ({ samples }: SoakRecord): AuditLine =>
  growth('latency stays', samples, { of: ({ latencyMs }) => latencyMs, ratioMax: latencyRatioMax });

type Wanted = { readonly of: (sample: Sample) => number; readonly ratioMax: number };

/** Of the second minute to the last; nothing is compared before there is a third. */
export const ratioOf = (samples: readonly Sample[], of: Wanted['of']): number | undefined => {
  const last = Math.max(...samples.map(({ minute }) => minute));
  if (!(last > secondMinute)) return undefined;
  const at = (wanted: number): number => median(samples.filter(({ minute }) => minute === wanted).map(of));
  return at(last) / at(secondMinute);
};

const growth = (name: string, samples: readonly Sample[], { of, ratioMax }: Wanted): AuditLine => {
  const ratio = ratioOf(samples, of);
  if (ratio === undefined) return { name: `${name} (too short to tell)`, checked: 0, problems: [] };
  const shown = `${ratio.toFixed(2)} times the second minute's`;
  return {
    name,
    checked: samples.length,
    problems: ratio <= ratioMax ? [] : [`the last minute has ${shown}, at most ${ratioMax} are allowed`],
  };
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
