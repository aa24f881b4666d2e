/**
 * Notifies webhooks that a sandbox failed: that it was lost, or never became ready. The notice is written before the end is
 * recorded, so a caller that dies in between writes it again. Its id follows from the generation and the code: a receiver
 * recognises a repeat, but does not take the loss of a late sandbox for one (WH1).
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import type { SandboxRecord } from '../../domain/sandbox.ts';
import { isEnded } from '../../domain/session.ts';
import { sessionsToldMax } from '../../domain/webhook/limits.ts';
import { occurrence } from '../../domain/webhook/notice.ts';
import type { TaskDeps } from '../deps.ts';
import { noticesOf, sendNotices } from '../events/webhook-notices.ts';

export type Failed = {
  readonly workspaceId: WorkspaceId;
  readonly generation: number;
  /** The condition of the write that follows: where that is refused, nothing failed. */
  readonly only?: 'starting' | 'unplaced';
};

/** One notice for each session that uses it, up to a bound. Without a webhook for it, this costs one query. */
export const publishSandboxFailure = async (
  ports: TaskDeps,
  { workspaceId, generation, only }: Failed,
): Promise<void> => {
  const { webhooks, sessions, telemetry, world } = ports;
  const { webhooks: all } = await webhooks.list();
  if (!all.some(({ isEnabled, events }) => isEnabled && events.includes('sandbox_failed'))) return;
  const workspace = await ports.workspaces.get(workspaceId);
  const { sandbox, users = [] } = workspace ?? {};
  if (sandbox?.generation !== generation || !isUnplanned(sandbox)) return;
  if (!mayEnd(sandbox, only, world.now())) return;
  const code = sandbox.readyAt === undefined ? 'sandbox_start_failed' : 'sandbox_unavailable';
  const told = await sessions.getMany(users.slice(0, sessionsToldMax), (error) =>
    telemetry.error('a session of a failed sandbox cannot be read', { error }),
  );
  const occurrences = told
    .filter(({ status }) => !isEnded(status))
    .map((session) =>
      occurrence(session, {
        type: 'sandbox_failed',
        key: `${workspaceId}:${generation}:${code}`,
        about: { code },
      }),
    );
  const notices = await noticesOf(ports, occurrences, world.now());
  await webhooks.tell(notices);
  await sendNotices(ports, notices);
};

/** Its end was not requested, and has not been recorded yet. */
const isUnplanned = ({ state, stopRequestedAt }: SandboxRecord): boolean =>
  state !== 'stopped' && stopRequestedAt === undefined;

/** As the condition has it. One that is being restored may still become ready. */
const mayEnd = (
  { state, taskArn, restoringUntil = 0 }: SandboxRecord,
  only: Failed['only'],
  now: number,
): boolean => {
  if (only === 'starting') return state === 'starting' && restoringUntil <= now;
  return only === undefined || taskArn === undefined;
};
