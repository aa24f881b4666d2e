/** Recent usage metrics as REST gives them to an operator's charts. */
import * as z from 'zod';
import type { History } from '#shared/domain/usage-metrics.ts';
import { iso } from '../time.ts';

/** A week. */
const minutesMax = 10_080;

export const statsHistoryQuery = z.object({
  minutes: z.coerce
    .number()
    .int()
    .min(5)
    .max(minutesMax)
    .default(60)
    .describe('Number of minutes up to now.'),
});

const count = z.number().int().min(0);
const level = count.nullable().describe('Level at the end of the step; null: not known yet.');
const ms = z
  .number()
  .min(0)
  .nullable()
  .describe('Milliseconds, rounded to a tenth; null: nothing was measured.');
const timing = z.object({ count, p50Ms: ms, p95Ms: ms });
const time = z.iso.datetime();

const happened = {
  cold: timing.describe('Start times of new sandboxes.'),
  warm: timing.describe('Start times of sandboxes of the warm pool.'),
  startsFailed: count,
  approvals: timing.describe('Waiting times of tool calls until their approval or rejection.'),
  errors: z
    .record(z.string(), count)
    .describe('Number of failed turns, faults and exceeded limits, by error code.'),
};

export const statsHistoryAnswer = z
  .object({
    scope: z.string().describe('Scope of the counts: `deployment`, or the id of a project.'),
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
  .meta({ id: 'StatsHistory', description: 'Usage metrics of the steps, oldest first.' });

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
