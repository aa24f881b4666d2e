/**
 * The measurements of the operator's usage metrics: one name per thing that happens, added up where it is stored.
 *
 * Pure: only events that operators receive (`telemetry.info`) are measured. A duration is counted in a bin of
 * ratio 2^(1/4), so that points add up and a percentile is known to a tenth.
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

type EventFields = Readonly<Record<string, unknown>>;

/** Of the refusals only our own faults and limits count: the client's errors do not. */
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
