/**
 * How long a decided call had waited: since its session last moved, which was when the call was asked. Who looked at the
 * session's files meanwhile moved it, too, and makes this less.
 */
import type { CallId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

export type Decided = { readonly callId: CallId; readonly approved: boolean; readonly at: number };

export const noteApproval = (
  telemetry: Telemetry,
  { id: sessionId, project, lastActiveAt }: Session,
  { callId, approved, at }: Decided,
): void => {
  const waitedMs = Math.max(0, at - lastActiveAt);
  telemetry.duration('ApprovalWaitMs', waitedMs);
  telemetry.info('a call was decided', {
    event: 'approval_decided',
    ...{ sessionId, project, callId, approved, waitedMs },
  });
};
