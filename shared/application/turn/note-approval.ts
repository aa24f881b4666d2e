/** Records how long a decided call had waited since the model asked it. */
import type { Session } from '../../domain/session.ts';
import type { ToolCall, TurnEvent } from '../../domain/turn/turn.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

type Decided = {
  readonly call: ToolCall;
  readonly event: Extract<TurnEvent, { type: 'call-decided' }>;
};

export const noteApproval = (
  telemetry: Telemetry,
  { id: sessionId, project }: Session,
  { call: { callId, digest, askedAt }, event: { approved, by, at } }: Decided,
): void => {
  const waitedMs = Math.max(0, at - Date.parse(askedAt));
  telemetry.duration('ApprovalWaitMs', waitedMs);
  telemetry.info('a call was decided', {
    event: 'approval_decided',
    ...{ sessionId, project, callId, digest, approved, by: by.id, waitedMs },
  });
};
