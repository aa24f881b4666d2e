/**
 * What operators see of a step of a turn once it is committed, whoever committed it: that a call waits for a person or
 * no longer does, and how the turn ended. Never a word of the conversation.
 */
import type { CallId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import type { TurnState, TurnStep } from '../../domain/turn/turn.ts';
import type { InboxMessage } from '../../ports/session-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

export type CommittedStep = {
  readonly session: Session;
  /** The state before it. */
  readonly before: TurnState;
  readonly step: Pick<TurnStep, 'state' | 'log'>;
  readonly at: number;
  readonly completed?: InboxMessage | undefined;
};

export const noteStep = (telemetry: Telemetry, committed: CommittedStep): void => {
  const { session, before, step } = committed;
  const [was, is] = [waitingCall(before), waitingCall(step.state)];
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
  noteEnd(telemetry, committed);
};

const waitingCall = (state: TurnState): CallId | undefined =>
  state.kind === 'deciding' ? state.calls.find(({ status }) => status === 'pending')?.callId : undefined;

const noteEnd = (telemetry: Telemetry, { session, step, at, completed }: CommittedStep): void => {
  const completion = step.log.find((entry) => entry.type === 'completion');
  if (completion?.type !== 'completion') return;
  const { turnId, stopReason, sessionCostUsd } = completion.data;
  const failure = step.log.findLast((entry) => entry.type === 'agent:error');
  const code = stopReason === 'error' ? failure?.data.code : undefined;
  const durationMs = completed && at - completed.acceptedAt;
  if (stopReason === 'error') telemetry.count('TurnsFailed');
  if (durationMs !== undefined) telemetry.duration('TurnDurationMs', durationMs);
  // Nobody pays for a session without prices, nor for a metric of nothing.
  if (sessionCostUsd > 0) telemetry.count('SessionCostUsd', sessionCostUsd);
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
