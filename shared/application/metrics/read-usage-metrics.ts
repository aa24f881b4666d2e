/**
 * The usage metrics for an operator: the deployment's for a scope of the deployment, a project's for a scope of
 * it.
 *
 * A person has no access: a project's metrics cover all who work in it. Costs a read of every point in which
 * something happened, of the range and of a day before it.
 */

import { projectOf } from '../../domain/access.ts';
import type { Principal } from '../../domain/principal.ts';
import {
  type History,
  historySummary,
  type MetricsScope,
  usageLookBackMs,
  usagePointMs,
  usagePointStart,
  usagePoints,
  usageStepMs,
} from '../../domain/usage-metrics.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

export const readUsageMetrics = async (
  { metrics, world }: Deps<'metrics' | 'world'>,
  principal: Principal,
  minutes: number,
): Promise<History> => {
  const scope = scopeOf(principal);
  const to = world.now();
  const rangeMs = minutes * 60_000;
  const stepMs = usageStepMs(rangeMs);
  // The last step is the one that is not over yet.
  const end = usagePointStart(to) + usagePointMs;
  const from = end - rangeMs;
  const counted = await metrics.read(scope, { from: from - usageLookBackMs, to });
  const summary = historySummary(counted, from);
  return { scope, from, to, stepMs, summary, points: usagePoints(counted, { from, to: end, stepMs }) };
};

const scopeOf = ({ scope, isPerson }: Principal): MetricsScope => {
  const project = projectOf(scope);
  if (isPerson && project !== undefined)
    throw new AppError(
      'forbidden',
      'usage metrics of a project need a token of the project: a personal sign-in is not enough',
      {
        suggestions: ['Use a token of the project or of the deployment.'],
      },
    );
  return project ?? 'deployment';
};
