/**
 * Figures of a run, each beside a floor that was measured before and after it: the ratio, the verdict beside its target, and
 * the comparison with a former run.
 */
import * as z from 'zod';

const target = z.object({
  /** Compared with the target: the ratio to the floor, or the value itself. */
  of: z.enum(['ratio', 'value']),
  is: z.enum(['at most', 'at least']),
  bound: z.number(),
  /** The origin of a bound that was computed in the run. */
  from: z.string().optional(),
});

const figure = z.object({
  name: z.string(),
  unit: z.string(),
  value: z.number(),
  floor: z.object({ name: z.string(), before: z.number(), after: z.number() }).optional(),
  target: target.optional(),
});

const run = z.object({
  at: z.iso.datetime(),
  machine: z.object({ cpus: z.number(), node: z.string(), loadBefore: z.number(), loadAfter: z.number() }),
  figures: z.array(figure),
});

export type Target = Readonly<z.output<typeof target>>;
export type Figure = Readonly<z.output<typeof figure>>;
export type Run = z.output<typeof run>;

export const decodeRun = (text: string): Run => run.parse(JSON.parse(text));

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** Undefined without a floor. */
export const ratioOf = ({ value, floor }: Figure): number | undefined => {
  if (floor === undefined) return undefined;
  const mean = (floor.before + floor.after) / 2;
  return mean > 0 ? value / mean : undefined;
};

export type Verdict = 'met' | 'MISSED' | '';

export const verdictOf = (one: Figure): Verdict => {
  if (one.target === undefined) return '';
  const { of, is, bound } = one.target;
  const measured = of === 'ratio' ? ratioOf(one) : one.value;
  if (measured === undefined) return 'MISSED';
  return (is === 'at most' ? measured <= bound : measured >= bound) ? 'met' : 'MISSED';
};

export type Change = {
  readonly name: string;
  readonly before: number;
  readonly now: number;
  /** Of the ratios, or of the values where a figure has no floor. */
  readonly factor: number;
  readonly is: 'lower' | 'higher' | 'alike';
};

/** Two runs on a shared machine differ by this much without a reason. */
const alikeWithin = 0.15;

/** Of the figures that both runs have; a figure that changed its floor for none, or none for one, is another figure. */
export const compareRuns = (former: Run, now: Run): readonly Change[] =>
  now.figures.flatMap((one) => {
    const old = former.figures.find(({ name }) => name === one.name);
    if (old === undefined || (old.floor === undefined) !== (one.floor === undefined)) return [];
    const [was, is] = [ratioOf(old) ?? old.value, ratioOf(one) ?? one.value];
    const factor = was === 0 ? Number.NaN : is / was;
    return [{ name: one.name, before: was, now: is, factor, is: directionOf(factor) }];
  });

const directionOf = (factor: number): Change['is'] => {
  if (factor > 1 + alikeWithin) return 'higher';
  return factor < 1 - alikeWithin ? 'lower' : 'alike';
};

/** Three digits that mean something, whatever the size. */
export const written = (value: number): string => {
  if (!Number.isFinite(value)) return '?';
  if (Math.abs(value) >= 100) return Math.round(value).toString();
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
};

const targetText = ({ target: wanted }: Figure): string => {
  if (wanted === undefined) return '';
  const bound = `${wanted.is} ${written(wanted.bound)}${wanted.of === 'ratio' ? ' times' : ''}`;
  return wanted.from === undefined ? bound : `${bound} (${wanted.from})`;
};

export const figureHead = ['figure', '', 'value', 'floor before', 'after', 'ratio', 'target', ''] as const;

export const figureRow = (one: Figure): readonly string[] => {
  const { name, unit, value, floor } = one;
  const ratio = ratioOf(one);
  return [
    ...[name, unit, written(value)],
    ...(floor === undefined ? ['', ''] : [written(floor.before), written(floor.after)]),
    ratio === undefined ? '' : written(ratio),
    targetText(one),
    verdictOf(one),
  ];
};
