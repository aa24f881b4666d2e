/**
 * Decides the pending calls of a session, in the order of their requests, with the person at the terminal.
 *
 * Without a terminal a call is approved under --yes and rejected otherwise, with a note. A question is withdrawn when its call
 * was decided elsewhere. If the workspace has changed since a call was tried, the person is asked again, under the same id and
 * perhaps with the same effect.
 */
import { digestOf, readCall, type WaitingCall } from '#sdk/approvals.ts';
import type { Frame, FrameOf } from '#sdk/frames.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import type { Call } from '../runtime/command.ts';
import { exitCodes, failure } from '../runtime/failure.ts';
import type { Questions } from '../runtime/questions.ts';
import { askAboutCall, ifWaiting, makeAsker, tryDecision, type Verdict } from './question.ts';

type ApprovalFrame = FrameOf<'tool:approval_required'>;

export type Approver = {
  /** Settles when the call is decided, here or elsewhere; rejects when that is impossible. */
  readonly decide: (frame: ApprovalFrame) => Promise<void>;
  /** Takes a frame after which a call, or each call of a session, is no longer pending. */
  readonly settle: (frame: Frame) => void;
};

type ApproverOptions = {
  readonly call: Call;
  readonly client: Sallyport;
  readonly questions: Questions | undefined;
};

type Request = { readonly sessionId: string | null; readonly callId: string; isSettled: boolean };

export const makeApprover = (options: ApproverOptions): Approver => {
  const taken = new Set<string>();
  const open = new Set<Request>();
  let asking: Request | undefined;
  let queue = Promise.resolve();

  const decideNow = async (request: Request, asked: () => Promise<WaitingCall>): Promise<void> => {
    let waiting = await ifWaiting(asked());
    while (waiting !== undefined && !request.isSettled) {
      asking = request;
      const verdict = await verdictOn(options, waiting).finally(() => {
        asking = undefined;
      });
      waiting = await carryOut(options, waiting, verdict);
    }
  };

  return {
    decide: (frame) => {
      const { sessionId, data } = frame;
      const key = [sessionId, data.turnId, data.callId].join(' ');
      // A second request is the first one told again, or a new one: the server knows which call waits.
      const asked = taken.has(key)
        ? () => readCall(options.client, addressOf(frame))
        : () => callOf(options.client, frame);
      taken.add(key);
      const request = { sessionId, callId: data.callId, isSettled: false };
      open.add(request);
      const decided = queue.then(() => decideNow(request, asked)).finally(() => open.delete(request));
      queue = decided.catch(() => undefined);
      return decided;
    },
    settle: ({ sessionId, data }) => {
      for (const request of open) {
        if (request.sessionId !== sessionId) continue;
        if ('callId' in data && data.callId !== request.callId) continue;
        request.isSettled = true;
        if (asking === request) options.questions?.withdraw();
      }
    },
  };
};

const verdictOn = async ({ call, questions }: ApproverOptions, waiting: WaitingCall): Promise<Verdict> => {
  const { isSet, output } = call;
  if (isSet('yes')) return { approved: true };
  if (questions === undefined) {
    output.note(
      `Rejected ${visibleLine(waiting.name)}: there is no terminal to ask; use --yes or --approvals auto.`,
    );
    return { approved: false };
  }
  return askAboutCall(makeAsker(call, questions), waiting);
};

/** The call of a frame, read again if the digest shows that the frame holds only a part of it. */
const callOf = async (client: Sallyport, frame: ApprovalFrame): Promise<WaitingCall> => {
  const { data } = frame;
  const call = { ...data, ...addressOf(frame) };
  return (await digestOf(call)) === data.digest ? call : readCall(client, call);
};

const addressOf = ({ sessionId, data: { callId } }: ApprovalFrame) => ({
  sessionId: sessionId ?? '',
  callId,
});

/** Carries out a verdict; returns the pending call if the person has to see it again. */
const carryOut = async (
  { call, client, questions }: ApproverOptions,
  waiting: WaitingCall,
  verdict: Verdict,
): Promise<WaitingCall | undefined> => {
  const { callId } = waiting;
  if (verdict === undefined && questions?.isClosed() !== true) return undefined;
  if (verdict === undefined || verdict === 'later') {
    call.output.note(`\nCall ${callId} still waits; \`sallyport approvals\` shows it.`);
    throw failure('interrupted', 'nothing was decided', { exitCode: exitCodes.interrupted });
  }
  const outcome = await tryDecision(client, waiting, verdict);
  if (typeof outcome === 'string') return undefined;
  call.output.note(`Not decided: ${outcome.conflict}.`);
  // Without a person the other call cannot be shown.
  return questions === undefined ? undefined : ifWaiting(readCall(client, waiting));
};
