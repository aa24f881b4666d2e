/**
 * The operator's figures: metrics of real traffic with their targets, in one list that the command, the dashboard and the record of the
 * last release read.
 *
 * A target bounds a percentile from above. Each has its source: no figure is here without one.
 */

export type Figure = {
  /** A name of `shared/domain/metrics.ts`; a test compares. */
  readonly metric: string;
  readonly label: string;
  readonly unit: 'ms' | 'USD';
  readonly target: { readonly percentile: 'p50' | 'p95'; readonly most: number };
  /** Why the target is this one. */
  readonly source: string;
};

/** Of the values in a time. */
export type Measured = {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
};

/** By the name of the metric; one without a value is absent. */
export type Figures = Readonly<Record<string, Measured>>;

/** The figures that a release had when the next one took its place. */
export type ReleaseFigures = {
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly until: string;
  readonly figures: Figures;
};

export const figures: readonly Figure[] = [
  {
    metric: 'SandboxWarmStartMs',
    label: 'ready, from the warm pool',
    unit: 'ms',
    target: { percentile: 'p95', most: 2000 },
    source: 'a person who waits two seconds does not look away',
  },
  {
    metric: 'SandboxColdStartMs',
    label: 'ready, started anew',
    unit: 'ms',
    target: { percentile: 'p95', most: 90_000 },
    source: 'the alarm of slow starts (infra/observability/work-alarms.ts)',
  },
  {
    metric: 'FirstDeltaMs',
    label: 'first delta of a turn',
    unit: 'ms',
    target: { percentile: 'p95', most: 30_000 },
    source: 'the alarm of answers that start late (infra/observability/work-alarms.ts)',
  },
  {
    metric: 'ToolCallMs',
    label: 'round trip of a tool',
    unit: 'ms',
    target: { percentile: 'p50', most: 1000 },
    source: 'half of the calls are short commands, whose own time is below a second',
  },
  {
    metric: 'WorkspaceRestoreMs',
    label: 'restore of a workspace',
    unit: 'ms',
    target: { percentile: 'p95', most: 30_000 },
    source: 'as long as a first delta may take: a restore is in front of it',
  },
  {
    metric: 'SessionCostUsd',
    label: 'dollars of an ended session',
    unit: 'USD',
    target: { percentile: 'p95', most: 10 },
    source: 'the budget of a session tree by default (MAX_COST_USD)',
  },
];
