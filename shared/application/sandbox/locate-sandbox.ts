/**
 * Asks ECS about a starting task without a state event: an event comes at least once, but may come late, and a
 * lost one would cost a start. Concurrent waiters ask seldom each; one that gets no answer asks again, and the
 * event may still come.
 */

import { locateEveryMs } from '../../domain/limits.ts';
import type { StopDeps } from '../deps.ts';
import { recordTaskEvent } from './record-task-event.ts';

export type Locator = (taskArn: string) => Promise<void>;

/** One for each waiting caller. */
export const openLocator = (ports: StopDeps, correlationId: string): Locator => {
  let askedAt = Number.NEGATIVE_INFINITY;
  return async (taskArn) => {
    const now = ports.world.now();
    if (now - askedAt < locateEveryMs) return;
    askedAt = now;
    try {
      const [task] = await ports.host.describe([taskArn]);
      if (task !== undefined)
        await recordTaskEvent(ports, { ...task, desiredStatus: 'RUNNING' }, correlationId);
    } catch (error) {
      ports.telemetry.warn('a sandbox that starts was not located', { taskArn, error });
    }
  };
};
