/** Recent usage metrics as REST gives them to an operator's charts. */
import * as z from 'zod';
import type { History } from '#shared/domain/usage-point.ts';
import { iso } from '../time.ts';

/** A week. */
const minutesMax = 10_080;

export const statsHistoryQuery = z.object({
  minutes: z.coerce.number().int().min(5).max(minutesMax).default(60).describe('Up to now.'),
});

const count = z.number().int().min(0);
const level = count.nullable().describe('Null: not known yet.');
const ms = z.number().min(0).nullable().describe('To a tenth; null: of none.');
const timing = z.object({ count, p50Ms: ms, p95Ms: ms });
const time = z.iso.datetime();

const happened = {
  cold: timing.describe('New sandboxes that became ready.'),
  warm: timing.describe('Sandboxes of the warm pool that became ready.'),
  startsFailed: count,
  approvals: timing.describe('Calls that were decided, and how long they had waited.'),
  errors: z.record(z.string(), count).describe('By code: failed turns, faults and limits that were met.'),
};

export const statsHistoryAnswer = z
  .object({
    scope: z.string().describe('deployment, or the id of a project'),
    from: time,
    to: time,
    stepSeconds: count,
    summary: z.object(happened),
    points: z.array(
      z.object({
        at: time,
        activeAgents: level,
        activeExecutions: level,
        sandboxes: level,
        poolReady: level,
        ...happened,
      }),
    ),
  })
  .meta({ id: 'StatsHistory', description: 'Counts of every step, oldest first.' });

export const usageMetricsView = ({
  scope,
  from,
  to,
  stepMs,
  summary,
  points,
}: History): z.output<typeof statsHistoryAnswer> => ({
  scope,
  from: iso(from),
  to: iso(to),
  stepSeconds: stepMs / 1000,
  summary: { ...summary, errors: { ...summary.errors } },
  points: points.map(({ at, errors, ...point }) => ({ ...point, errors: { ...errors }, at: iso(at) })),
});
