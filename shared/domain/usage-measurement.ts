/**
 * What the history of the operator's view counts of what happens: one name per thing, added up where it lies.
 *
 * Pure: an event that operators are told of (`telemetry.info`) is read here, and nothing else is counted. A duration is
 * counted in a bin of ratio 2^(1/4), so that points add up and a percentile is known to a tenth.
 */
import type { ProjectId } from './ids.ts';
import type { MetricName } from './metrics.ts';

/** Whose history: the deployment's counts everything, a project's what is known to be in it. */
export type MetricsScope = 'deployment' | ProjectId;

export type UsageMeasurement = {
  readonly project?: ProjectId | undefined;
} & ({ readonly add: string } | { readonly set: string; readonly to: number });

/** One point is what happened in so many milliseconds. */
export const usagePointMs = 300_000;
/** The time that a point is kept, in seconds: the longest range that may be asked for, and a day before it. */
export const usageSecondsMax = 8 * 86_400;

export const usagePointStart = (at: number): number => at - (at % usagePointMs);

const binsPerDoubling = 4;

export const binOf = (ms: number): number => Math.round(binsPerDoubling * Math.log2(Math.max(1, ms)));
export const msOfBin = (bin: number): number => Math.round(2 ** (bin / binsPerDoubling));

const timed = (name: string, ms: unknown): string => `${name}|${binOf(Number(ms))}`;

type EventFields = Readonly<Record<string, unknown>>;

/** Of the refusals those that are our faults, or a limit that was met: what a client gets wrong is the client's. */
const faultFrom = 500;

export const measurementOfEvent = (fields: EventFields): UsageMeasurement | undefined => {
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
