/** Ends a call that was given to somebody outside, with what came of it there. An answer counts once, and not when it is late. */
import type { ToolContent } from '../../domain/event-log.ts';
import { callsWithCallers } from '../../domain/turn/pending-work.ts';
import type { TurnEvent, TurnLimits, TurnState } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import { textOf } from './bound-result.ts';
import { type Found, type MovePorts, moveTurn } from './move-turn.ts';

export type OutsideAnswer =
  | { readonly content: readonly ToolContent[] }
  | { readonly code: string; readonly message: string };

export type Settlement = {
  /** What the wait was given out under. */
  readonly waitId: string;
  readonly answer: OutsideAnswer;
  readonly correlationId: string;
  readonly limits: TurnLimits;
};

export const settleCall = (
  ports: MovePorts,
  found: Found,
  { waitId, answer, correlationId, limits }: Settlement,
): Promise<'moved' | 'late'> =>
  moveTurn(ports, found, {
    eventFor: (state, at) => endOf(state, { waitId, answer, at }),
    correlationId,
    limits,
  });

const endOf = (
  state: TurnState,
  { waitId, answer, at }: { readonly waitId: string; readonly answer: OutsideAnswer; readonly at: number },
): TurnEvent | undefined => {
  const call = callsWithCallers(state).find(({ wait }) => wait.id === waitId);
  if (call === undefined) return undefined;
  const { callId } = call;
  if ('code' in answer) return { type: 'call-failed', at, callId, ...answer };
  const { content } = answer;
  const durationMs = Math.max(0, at - call.wait.since);
  return { type: 'call-finished', at, callId, content, text: textOf(content), durationMs };
};

export const noPendingCall = (id: string, suggestion: string): AppError =>
  new AppError('no_pending_tool_call', `No matching pending tool call: ${id.slice(0, 64)}`, {
    suggestions: [suggestion],
  });
