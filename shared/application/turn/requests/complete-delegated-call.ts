/** Completes a call that was delegated to a client, with the answer of the client. An answer counts once, and not when it is late. */

import type { ClientAnswer } from '../../../contracts/caller-tools.ts';
import { textOf } from '../../../domain/event-log.ts';
import { imagesOf } from '../../../domain/result-images.ts';
import { callsWithCallers } from '../../../domain/turn/pending-work.ts';
import type { TurnEvent, TurnLimits, TurnState } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { MessageDeps } from '../../deps.ts';
import { commitWithoutLease, type FoundTurn } from '../commit/commit-without-lease.ts';

export type DelegatedAnswer = {
  /** The id under which the client was asked. */
  readonly waitId: string;
  readonly answer: ClientAnswer;
  readonly limits: TurnLimits;
};

export const completeDelegatedCall = (
  ports: MessageDeps,
  found: FoundTurn,
  { waitId, answer, limits }: DelegatedAnswer,
): Promise<'applied' | 'late'> =>
  commitWithoutLease(ports, found, {
    eventFor: (state, at) => endOf(state, { waitId, answer, at }),
    limits,
  });

const endOf = (
  state: TurnState,
  { waitId, answer, at }: { readonly waitId: string; readonly answer: ClientAnswer; readonly at: number },
): TurnEvent | undefined => {
  const call = callsWithCallers(state).find(({ wait }) => wait.id === waitId);
  if (call === undefined) return undefined;
  const { callId } = call;
  if ('code' in answer) return { type: 'call-failed', at, callId, ...answer };
  const { content } = answer;
  const durationMs = Math.max(0, at - call.wait.since);
  const { images, notes } = imagesOf(content);
  const text = [textOf(content), ...notes].join('\n');
  return { type: 'call-finished', at, callId, content, text, images, durationMs };
};

export const noPendingCall = (id: string, suggestion: string): AppError =>
  new AppError('no_pending_tool_call', `No matching pending tool call: ${id.slice(0, 64)}`, {
    suggestions: [suggestion],
  });
