/**
 * Usage metrics of the operator: measurements of events, added up where they are stored, and the points of charts that are
 * folded from them. Pure.
 *
 * Only events that operators receive (`telemetry.info`) are measured. A duration is counted in a bin of ratio 2^(1/4), so
 * that points add up and a percentile is known to a tenth. Every step of a range has a point, with zeros where nothing
 * happened; a level, unlike a count, is carried on from its last value, and null before that.
 */
import type { ProjectId } from './ids.ts';
import type { MetricName } from './metrics.ts';

/** The scope of the metrics: the deployment's cover everything, a project's what is known to be in it. */
export type MetricsScope = 'deployment' | ProjectId;

export type UsageMeasurement = {
  readonly project?: ProjectId | undefined;
} & ({ readonly add: string } | { readonly set: string; readonly to: number });

/** Milliseconds that one point covers. */
export const usagePointMs = 300_000;
/** The retention of a point, in seconds: the longest range that may be requested, and a day before it. */
export const usageSecondsMax = 8 * 86_400;

export const usagePointStart = (at: number): number => at - (at % usagePointMs);

const binsPerDoubling = 4;

export const binOf = (ms: number): number => Math.round(binsPerDoubling * Math.log2(Math.max(1, ms)));
export const msOfBin = (bin: number): number => Math.round(2 ** (bin / binsPerDoubling));

const timed = (name: string, ms: unknown): string => `${name}|${binOf(Number(ms))}`;

/** Of the refusals only our own faults and limits count: the client's errors do not. */
const faultFrom = 500;

export const measurementOfEvent = (
  fields: Readonly<Record<string, unknown>>,
): UsageMeasurement | undefined => {
  const { event, code, status = faultFrom } = fields;
  const project = fields['project'] as ProjectId | undefined;
  switch (event) {
    case 'sandbox_started':
      return { project, add: timed(fields['source'] === 'pool' ? 'warm' : 'cold', fields['startMs']) };
    case 'sandbox_start_failed':
      return { project, add: 'failed' };
    case 'approval_decided':
      return { project, add: timed('wait', fields['waitedMs']) };
    case 'turn_ended':
      return code === undefined ? undefined : { project, add: `error|${String(code)}` };
    case 'request_refused':
      if (Number(status) < faultFrom && code !== 'resource_limit_exceeded') return undefined;
      return { add: `error|${String(code)}` };
    case 'slots_counted':
      return { project, set: `active|${String(fields['holder'])}`, to: Number(fields['taken']) };
    default:
      return undefined;
  }
};

const gauges: Partial<Record<MetricName, string>> = { SandboxesRunning: 'sandboxes', PoolReady: 'pool' };

export const noteOfCount = (metric: MetricName, value: number): UsageMeasurement | undefined => {
  const set = gauges[metric];
  return set === undefined ? undefined : { set, to: value };
};

/** Counts from `at` on, for the time of one point. */
export type UsageCounts = { readonly at: number; readonly counts: Readonly<Record<string, number>> };

type Timing = { readonly count: number; readonly p50Ms: number | null; readonly p95Ms: number | null };

type UsagePoint = {
  readonly at: number;
  readonly activeAgents: number | null;
  readonly activeExecutions: number | null;
  readonly sandboxes: number | null;
  readonly poolReady: number | null;
  readonly cold: Timing;
  readonly warm: Timing;
  readonly startsFailed: number;
  readonly approvals: Timing;
  readonly errors: Readonly<Record<string, number>>;
};

type HistorySummary = Omit<
  UsagePoint,
  'at' | 'activeAgents' | 'activeExecutions' | 'sandboxes' | 'poolReady'
>;

/** A range of time in points and in sum; times in epoch milliseconds. */
export type History = {
  readonly scope: MetricsScope;
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly summary: HistorySummary;
  readonly points: readonly UsagePoint[];
};

/** Milliseconds before a range in which a level's last value may lie: an idle session ends within a day. */
export const usageLookBackMs = 86_400_000;

const stepsMs = [usagePointMs, 6 * usagePointMs, 36 * usagePointMs] as const;
const pointsMax = 72;

/** Five minutes, half an hour or three hours: as many points as an eye tells apart. */
export const usageStepMs = (rangeMs: number): number =>
  stepsMs.find((stepMs) => rangeMs <= pointsMax * stepMs) ?? stepsMs[2];

type Range = { readonly from: number; readonly to: number; readonly stepMs: number };

export const usagePoints = (
  counted: readonly UsageCounts[],
  { from, to, stepMs }: Range,
): readonly UsagePoint[] => {
  const levels: Record<string, number> = {};
  const points: UsagePoint[] = [];
  let next = 0;
  const carryUntil = (end: number): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (let one = counted[next]; one !== undefined && one.at < end; one = counted[++next])
      for (const [name, value] of Object.entries(one.counts))
        if (isLevel(name)) levels[name] = value;
        else sums[name] = (sums[name] ?? 0) + value;
    return sums;
  };
  carryUntil(from);
  for (let at = from; at < to; at += stepMs) points.push(pointOf(at, carryUntil(at + stepMs), levels));
  return points;
};

/** The sum of a whole range, in the form of one point. */
export const historySummary = (counted: readonly UsageCounts[], from: number): HistorySummary => {
  const sums: Record<string, number> = {};
  for (const { at, counts } of counted)
    if (at >= from)
      for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
  const { cold, warm, startsFailed, approvals, errors } = pointOf(from, sums, {});
  return { cold, warm, startsFailed, approvals, errors };
};

const isLevel = (name: string): boolean =>
  name === 'sandboxes' || name === 'pool' || name.startsWith('active|');

const pointOf = (
  at: number,
  sums: Readonly<Record<string, number>>,
  levels: Readonly<Record<string, number>>,
): UsagePoint => ({
  at,
  activeAgents: levelOf(levels, 'active|agent#'),
  activeExecutions: levelOf(levels, 'active|execution#'),
  sandboxes: levels['sandboxes'] ?? null,
  poolReady: levels['pool'] ?? null,
  cold: timingOf(sums, 'cold'),
  warm: timingOf(sums, 'warm'),
  startsFailed: sums['failed'] ?? 0,
  approvals: timingOf(sums, 'wait'),
  errors: Object.fromEntries(under(sums, 'error|').sort(([, one], [, other]) => other - one)),
});

const under = (values: Readonly<Record<string, number>>, start: string): [string, number][] =>
  Object.entries(values).flatMap(([name, value]) =>
    name.startsWith(start) ? [[name.slice(start.length), value]] : [],
  );

const levelOf = (levels: Readonly<Record<string, number>>, start: string): number | null => {
  const holders = under(levels, start);
  return holders.length === 0 ? null : holders.reduce((sum, [, active]) => sum + active, 0);
};

const timingOf = (sums: Readonly<Record<string, number>>, name: string): Timing => {
  const bins = under(sums, `${name}|`)
    .map(([bin, times]) => ({ bin: Number(bin), times }))
    .sort((one, other) => one.bin - other.bin);
  const count = bins.reduce((sum, { times }) => sum + times, 0);
  const quantile = (share: number): number | null => {
    let left = Math.ceil(share * count);
    for (const { bin, times } of bins) {
      left -= times;
      if (left <= 0) return msOfBin(bin);
    }
    return null;
  };
  return { count, p50Ms: quantile(0.5), p95Ms: quantile(0.95) };
};
