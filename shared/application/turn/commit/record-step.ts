/**
 * Records a committed step for operators: that a call waits for a person or no longer does, and how the turn ended. Never a
 * word of the conversation.
 */
import { completionOf } from '../../../domain/event-log.ts';
import type { Session } from '../../../domain/session.ts';
import type { TurnState, TurnStep } from '../../../domain/turn/turn.ts';
import { waitingCall } from '../../../domain/turn/waiting-call.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type { Telemetry } from '../../../ports/telemetry.ts';

export type CommittedStep = {
  readonly session: Session;
  /** The state before it. */
  readonly before: TurnState;
  readonly step: Pick<TurnStep, 'state' | 'log'>;
  readonly at: number;
  readonly completed?: InboxMessage | undefined;
};

export const recordStep = (telemetry: Telemetry, committed: CommittedStep): void => {
  const { session, before, step } = committed;
  const [was, is] = [waitingCall(before)?.callId, waitingCall(step.state)?.callId];
  if (was !== undefined && was !== is)
    telemetry.info('a call waits no longer', { event: 'approval_over', sessionId: session.id, callId: was });
  if (is !== undefined && was !== is) {
    telemetry.count('ApprovalsAsked');
    telemetry.info('a call waits for a person', {
      event: 'approval_asked',
      sessionId: session.id,
      callId: is,
    });
  }
  recordEnd(telemetry, committed);
};

const recordEnd = (telemetry: Telemetry, { session, step, at, completed }: CommittedStep): void => {
  const completion = completionOf(step.log);
  if (completion === undefined) return;
  const { turnId, stopReason, sessionCostUsd } = completion;
  const failure = step.log.findLast((entry) => entry.type === 'agent:error');
  const code = stopReason === 'error' ? failure?.data.code : undefined;
  const durationMs = completed && at - completed.acceptedAt;
  if (stopReason === 'error') telemetry.count('TurnsFailed');
  if (durationMs !== undefined) telemetry.duration('TurnDurationMs', durationMs);
  const { id: sessionId, project, provider, model } = session;
  const about = { sessionId, project, provider, model, turnId, messageId: completed?.messageId };
  telemetry.info('a turn ended', {
    event: 'turn_ended',
    ...about,
    stopReason,
    code,
    durationMs,
    sessionCostUsd,
  });
};
