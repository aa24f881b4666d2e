/**
 * The whole deployment as REST shows it: use and limits, the models of a provider, and recent usage metrics for an
 * operator's charts.
 */

import * as z from 'zod';
import { providers } from '#shared/domain/model.ts';
import type { History } from '#shared/domain/usage-metrics.ts';
import { iso } from '../fields.ts';

const count = z.number().int().min(0);
const percent = z.number().min(0).describe('Share in use, in percent.');

export const statsAnswer = z
  .object({
    activeSessions: count,
    maxSessions: count.describe('Largest number of each owner.'),
    totalMemoryMb: count,
    totalCpus: z.number().min(0),
    flavorCounts: z.record(z.string(), count),
    sessionUtilization: percent.describe('Share in use of the owner that uses most, in percent.'),
    allocatedPorts: count,
    availablePorts: count,
    portUtilization: percent,
    pool: z.object({ ready: count, target: count }),
    limits: z.enum(['enforced', 'best effort']),
    executionSlots: z
      .array(z.object({ project: z.uuid().exactOptional(), name: z.string(), used: count, max: count }))
      .describe(
        "Slots by owner: the caller's, and to a scope of the deployment those of the deployment and of the tokens of up to 25 projects.",
      ),
    agentSlots: z
      .array(z.object({ project: z.uuid(), name: z.string(), used: count, max: count }))
      .describe('Slots of the agents of up to 25 projects, the busiest first.'),
  })
  .meta({
    id: 'Stats',
    description:
      'Use and limits of the execution sessions and agents that the caller may see; those of persons are seen by themselves alone.',
  });

const provider = z.enum(providers);

const usd = z.number().min(0);
const price = z.object({ input: usd, output: usd, cached: usd.optional(), cacheWrite: usd.optional() });

export const modelsAnswer = z.object({
  provider,
  configured: z.array(provider).describe('Usable providers: those that have a key or need none.'),
  models: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      price: price.optional().describe('Price in US dollars for a million tokens; absent: unknown.'),
    }),
  ),
});

export const modelChecksAnswer = z.object({
  provider,
  models: z.record(
    z.string(),
    z.string().describe('Result by model: available, not_found or error: <reason>.'),
  ),
});

export const openApiAnswer = z.looseObject({ openapi: z.literal('3.1.1') });

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

export const templatesAnswer = z.object({
  templates: z.array(
    z
      .object({
        name: z.string().describe('Name by which a session asks for the template.'),
        language: z.string().describe('Language of code that names none.'),
        description: z.string(),
        packages: z
          .array(z.string())
          .describe("Packages that code can import at once; of an operator's template none is known."),
        isDefault: z.boolean().describe('True: the template of sessions that name none.'),
        problem: z.string().optional().describe('Reason why no sandbox can start from it.'),
      })
      .meta({ id: 'Template' }),
  ),
});
