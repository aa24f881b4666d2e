/**
 * Decides the calls of a session as its requests come: one after the other, each once, by the person at the terminal.
 *
 * Without a terminal they are approved under --yes and rejected otherwise, with a note. A question whose call was
 * decided elsewhere is withdrawn.
 */
import { visibleLine } from '#shared/domain/visible-text.ts';
import type { Call } from '../command.ts';
import type { Frame } from '../conversation/event-order.ts';
import type { Questions } from '../conversation/questions.ts';
import { exitCodes, failure } from '../failure.ts';
import type { HttpClient } from '../http-client.ts';
import { askAboutCall, makeAsker, type Verdict } from './question.ts';
import { callOf, decisionOf, ifWaiting, readCall, tryDecision, type WaitingCall } from './waiting-call.ts';

export type Approver = {
  /** Settles when the call is decided, here or elsewhere; rejects when that is impossible. */
  readonly decide: (frame: Frame) => Promise<void>;
  /** Takes a frame that says of a call, or of all calls of a session, that they wait no more. */
  readonly settle: (frame: Frame) => void;
};

type ApproverOptions = {
  readonly call: Call;
  readonly client: HttpClient;
  readonly questions: Questions | undefined;
};

type Request = { readonly sessionId: string; readonly callId: unknown; isSettled: boolean };

export const makeApprover = (options: ApproverOptions): Approver => {
  const taken = new Set<string>();
  const open = new Set<Request>();
  let asking: Request | undefined;
  let queue = Promise.resolve();

  const decideNow = async (request: Request, frame: Frame): Promise<void> => {
    let waiting = await ifWaiting(callOf(options.client, frame));
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
      const key = [sessionId, data['turnId'], data['callId']].join(' ');
      if (taken.has(key)) return Promise.resolve();
      taken.add(key);
      const request = { sessionId, callId: data['callId'], isSettled: false };
      open.add(request);
      const decided = queue.then(() => decideNow(request, frame)).finally(() => open.delete(request));
      queue = decided.catch(() => undefined);
      return decided;
    },
    settle: ({ sessionId, data }) => {
      for (const request of open) {
        if (request.sessionId !== sessionId) continue;
        if (data['callId'] !== undefined && data['callId'] !== request.callId) continue;
        request.isSettled = true;
        if (asking === request) options.questions?.withdraw();
      }
    },
  };
};

const verdictOn = async ({ call, questions }: ApproverOptions, waiting: WaitingCall): Promise<Verdict> => {
  const { isSet, output } = call;
  if (isSet('yes')) return decisionOf(waiting, { approved: true });
  if (questions === undefined) {
    output.note(
      `Rejected ${visibleLine(waiting.name)}: nobody is here to be asked; use --yes or --approvals auto.`,
    );
    return decisionOf(waiting, { approved: false });
  }
  return askAboutCall(makeAsker(call, questions), waiting);
};

/** The call that still waits, if the person has to see it again. */
const carryOut = async (
  { call, client, questions }: ApproverOptions,
  waiting: WaitingCall,
  verdict: Verdict,
): Promise<WaitingCall | undefined> => {
  const { sessionId, callId } = waiting;
  if (verdict === undefined && questions?.isClosed() !== true) return undefined;
  if (verdict === undefined || verdict === 'later') {
    call.output.note(`\nCall ${callId} still waits; \`sallyport approvals\` shows it.`);
    throw failure('interrupted', 'nothing was decided', { exitCode: exitCodes.interrupted });
  }
  const outcome = await tryDecision(client, waiting, verdict);
  if (typeof outcome === 'string') return undefined;
  call.output.note(`Not decided: ${outcome.conflict}.`);
  // Without a person the other call cannot be shown.
  return questions === undefined ? undefined : ifWaiting(readCall(client, sessionId, callId));
};
