/** The end of a call that runs, or was to run: its result, and the next model call once every call of the queue has ended. */
import { resultOf } from './call-queue.ts';
import { thinkAgain } from './next-step.ts';
import { asksChild, type ToolCall } from './tool-call.ts';
import type { Acting, Running, ToolResult, TurnLimits, TurnStep } from './turn.ts';
import { followedBy, ignore, silently } from './turn-step.ts';

const unstarted: readonly ToolCall['status'][] = ['pending', 'approved', 'rejected'];

export const hasBegun = (status: ToolCall['status']): boolean => !unstarted.includes(status);

/** A child is asked before the turn says so: once the queue runs, its function may be about to. */
export const mayHaveBegun = ({ kind }: Running, call: ToolCall): boolean =>
  hasBegun(call.status) || (kind === 'acting' && call.status === 'approved' && asksChild(call));

export const callEnded = (state: Acting, event: ToolResult, limits: TurnLimits): TurnStep => {
  const call = state.calls.find(({ callId }) => callId === event.callId);
  if (call === undefined || (call.status !== 'executing' && call.status !== 'approved'))
    return ignore(state, 'this call has ended');
  const result = resultOf(call, event);
  const calls = state.calls.map((other) => (other === call ? { ...call, status: result.status } : other));
  const isRunning = calls.some(({ status }) => status === 'approved' || status === 'executing');
  return followedBy(result, isRunning ? silently({ ...state, calls }) : thinkAgain(state, limits));
};
