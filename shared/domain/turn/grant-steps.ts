/** The step of a turn whose grant is withdrawn: what it allowed and has not started is asked about again, or fails. */
import { trialFor } from './approval-policy.ts';
import { firstApproval } from './call-queue.ts';
import { callEnded, mayHaveBegun } from './call-steps.ts';
import type { ToolCall } from './tool-call.ts';
import type { Acting, ApprovalPolicy, Deciding, EventOf, Running, TurnLimits, TurnStep } from './turn.ts';
import { followedBy, ignore, silently } from './turn-step.ts';

/**
 * Later calls ask again. So do those that it allowed and that have not started; where others of the queue have, they fail
 * instead, since a queue that runs asks no person any more (T5).
 */
export const grantWithdrawn = (
  state: Running,
  { grantId }: EventOf<'grant-withdrawn'>,
  limits: TurnLimits,
): TurnStep => {
  const grants = state.policy.grants.filter(({ id }) => id !== grantId);
  if (grants.length === state.policy.grants.length) return ignore(state, 'there is no such grant');
  const policy = { ...state.policy, grants };
  const output = {
    log: [{ type: 'system' as const, data: { kind: 'grant_withdrawn', grantId } }],
    history: [],
  };
  if (state.kind === 'thinking') return followedBy(output, silently({ ...state, policy }));
  const isTaken = (call: ToolCall): boolean =>
    call.grant === grantId && call.status === 'approved' && !mayHaveBegun(state, call);
  if (!state.calls.some(isTaken)) return followedBy(output, silently({ ...state, policy }));
  const hasStarted = state.calls.some((call) => mayHaveBegun(state, call));
  return followedBy(
    output,
    hasStarted
      ? failTaken({ ...state, kind: 'acting', policy }, isTaken, limits)
      : askTaken({ ...state, kind: 'deciding', policy }, isTaken),
  );
};

const askTaken = (state: Deciding, isTaken: (call: ToolCall) => boolean): TurnStep => {
  const before = state.calls.find(({ status }) => status === 'pending');
  const calls = state.calls.map((call) => (isTaken(call) ? askedAgain(call, state.policy) : call));
  const waiting = calls.find(({ status }) => status === 'pending');
  const log = waiting?.callId === before?.callId ? [] : firstApproval(state.turnId, calls);
  return { state: { ...state, calls }, log, history: [] };
};

const askedAgain = ({ grant: _, ...call }: ToolCall, policy: ApprovalPolicy): ToolCall => ({
  ...call,
  status: 'pending',
  askedHuman: true,
  ...trialFor(call, policy),
});

const withdrawnFailure = {
  code: 'conflict',
  message: 'the grant that allowed it was withdrawn; it did not run',
};

const failTaken = (state: Acting, isTaken: (call: ToolCall) => boolean, limits: TurnLimits): TurnStep =>
  state.calls
    .filter(isTaken)
    .reduce<TurnStep>(
      (step, { callId }) =>
        step.state.kind === 'acting'
          ? followedBy(
              step,
              callEnded(step.state, { type: 'call-failed', at: 0, callId, ...withdrawnFailure }, limits),
            )
          : step,
      silently(state),
    );
