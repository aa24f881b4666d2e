/**
 * A chat at a terminal or into a pipe: the conversation, the approval of its calls, and the effect of Ctrl-C.
 *
 * The person at the terminal decides each call that needs approval; without a terminal it is rejected, with a note. Ctrl-C
 * cancels the turn, and a second one leaves.
 */
import type { Frame, FrameOf } from '#sdk/frames.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import { makeApprover } from '../approval/approver.ts';
import type { Call } from '../runtime/command.ts';
import { ended, exitCodes, failure } from '../runtime/failure.ts';
import { openQuestions, type Questions } from '../runtime/questions.ts';
import { type Conversation, openConversation } from './conversation.ts';
import { makeTurnView } from './turn-view.ts';

export type Chat = {
  readonly call: Call;
  readonly sessionId: string;
  readonly talk: Conversation;
  readonly questions: Questions | undefined;
  /** Rejects when the person wants to leave. */
  readonly left: Promise<never>;
  /** The error with which the last turn ended, if it did. */
  readonly failed: () => TurnFailure | undefined;
};

type TurnFailure = Pick<FrameOf<'agent:error'>['data'], 'code' | 'message'>;

/** True for a frame after which a call, or each call of its session, is no longer pending. */
const isSettling = ({ type, data }: Frame): boolean =>
  ['tool:decided', 'tool:rejected', 'completion'].includes(type) ||
  ('kind' in data && data.kind === 'child_settled');

type State = { interrupts: number; isTurning: boolean; failure?: TurnFailure | undefined };

const isThought = ({ type }: Frame): boolean => type === 'reasoning' || type === 'reasoning_delta';

export const openChat = (
  call: Call,
  { client, sessionId, isTerminal }: { client: Sallyport; sessionId: string; isTerminal: boolean },
): Chat => {
  const { output, host } = call;
  const isScreen = host.stdout.isTTY === true;
  const kept = call.isSet('stop') ? [] : [`The session stays: \`sallyport chat --session ${sessionId}\`.`];
  // A pipe gets the answer alone, with the outputs that it repeats.
  const view = makeTurnView({ dim: output.dim, pointsAtOutput: isScreen });
  const leaving = Promise.withResolvers<never>();
  leaving.promise.catch(() => undefined);
  const state: State = { interrupts: 0, isTurning: false };
  const onInterrupt = (): void => {
    state.interrupts += 1;
    if (state.interrupts > 1 || !state.isTurning) {
      leaving.reject(failure('interrupted', 'left', { exitCode: exitCodes.interrupted, suggestions: kept }));
      return;
    }
    output.note('\nCancelling; Ctrl-C again exits.');
    questions?.withdraw();
    talk.cancel();
  };
  const questions = isTerminal ? openQuestions(host, onInterrupt) : undefined;
  const approver = makeApprover({ call, client, questions });
  const releases = [host.onInterrupt(onInterrupt), host.onEnd((exitCode) => leaving.reject(ended(exitCode)))];
  /** A pipe gets the answer alone; everything else goes to stderr. */
  const show = (frame: Frame): void => {
    if (isSettling(frame)) approver.settle(frame);
    if (frame.type === 'agent:error' && frame.data.callId === undefined) state.failure = frame.data;
    if (output.isJson || (!isScreen && isThought(frame))) return;
    const isAnswer = isScreen || ['delta', 'message'].includes(frame.type);
    output.text(view.take(frame), isAnswer ? 'stdout' : 'stderr');
  };
  const inner = openConversation(client, sessionId, {
    onFrame: show,
    onLost: () => output.note('Connection lost, reconnecting…'),
    onApproval: approver.decide,
  });
  const talk: Conversation = {
    ...inner,
    say: async (text, choices) => {
      Object.assign(state, { interrupts: 0, isTurning: true, failure: undefined });
      try {
        return await Promise.race([inner.say(text, choices), leaving.promise]);
      } finally {
        state.isTurning = false;
      }
    },
    close: () => {
      for (const release of releases) release();
      inner.close();
    },
  };
  return { call, sessionId, talk, questions, left: leaving.promise, failed: () => state.failure };
};
