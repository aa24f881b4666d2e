/**
 * A person's decision about the call that waits, checked against that call: a refusal, or the event for the turn.
 *
 * A decision names the call by its id and may name its turn and its digest. One that names another turn or digest was made
 * about something else (AP4). A call that was too long to be shown whole is approved only by its digest (AP5).
 */
import type { CallId } from '../ids.ts';
import { isWellFormed, isWithin, type JsonObject } from '../json.ts';
import { editedBytesMax } from '../limits.ts';
import type { Decider } from '../principal.ts';
import { type Grant, grantsPerSessionMax, hasWords, literalWords, type Remember } from './grant.ts';
import type { ToolCall } from './tool-call.ts';
import type { Deciding, TurnEvent, TurnState } from './turn.ts';
import { waitingCall } from './waiting-call.ts';

export type Decision = {
  readonly callId: string;
  readonly approved: boolean;
  readonly digest?: string | undefined;
  readonly turnId?: string | undefined;
  /** Of an approval of a call that was tried. */
  readonly effectDigest?: string | undefined;
  readonly reason?: string | undefined;
  /** Run instead of the arguments that the model gave. */
  readonly args?: JsonObject | undefined;
  readonly remember?: Remember | undefined;
};

type Refusal = {
  readonly code: 'no_pending_tool_call' | 'conflict' | 'invalid_request' | 'resource_limit_exceeded';
  readonly message: string;
  readonly suggestion: string;
};

type Judged = { readonly refusal: Refusal } | { readonly state: Deciding; readonly call: ToolCall };

/** Deeper than any tool's arguments, and no danger to a stack. */
const editedDepthMax = 64;

export const firstOffered = 'Approve the call that was offered last.';
const look = 'Read the call that waits now, and decide about that.';

/** `isCut`: the request went out without a part of the arguments. */
export const judgeDecision = (
  state: TurnState,
  decision: Decision,
  isCut: (state: Deciding, call: ToolCall) => boolean,
): Judged => {
  const call = waitingCall(state);
  const { callId, digest, turnId, approved } = decision;
  if (call === undefined || state.kind !== 'deciding' || call.callId !== callId)
    return refuse(
      'no_pending_tool_call',
      `No matching pending tool call: ${callId.slice(0, 64)}`,
      firstOffered,
    );
  if (turnId !== undefined && turnId !== state.turnId)
    return refuse('conflict', 'the decision is about a call of another turn', look);
  if (digest !== undefined && digest !== call.digest)
    return refuse('conflict', 'the digest belongs to a different call', look);
  if (approved && digest === undefined && isCut(state, call))
    return refuse(
      'conflict',
      'the call is too long to be shown whole in a frame: approve it with its digest',
      'Read the whole call at GET /api/sessions/{id}/approvals/{callId}.',
    );
  return unfitEffect(call, decision) ?? unfit(state, call, decision) ?? { state, call };
};

/** The effect that was shown is applied: an approval names it, and changes nothing of it. */
const unfitEffect = ({ trial }: ToolCall, decision: Decision): Judged | undefined => {
  const { approved, args, effectDigest } = decision;
  const shown = trial?.state === 'tried' ? trial.effectDigest : undefined;
  if (effectDigest !== undefined && effectDigest !== shown)
    return refuse('conflict', 'the effectDigest belongs to a different effect', look);
  if (!approved || shown === undefined) return undefined;
  if (effectDigest === undefined)
    return refuse('conflict', 'the call was tried: approve it with its effectDigest', look);
  return args === undefined
    ? undefined
    : refuse(
        'invalid_request',
        'args: a call that was tried cannot be changed',
        'Reject the call with a reason that says what to change.',
      );
};

const unfit = (
  { policy }: Deciding,
  call: ToolCall,
  { approved, args, remember }: Decision,
): Judged | undefined => {
  if (!approved && (args !== undefined || remember !== undefined))
    return refuse(
      'invalid_request',
      'args and remember are allowed only in an approval',
      'Leave them out, or approve the call.',
    );
  if (args !== undefined && !isWithin(args, { bytesMax: editedBytesMax, depthMax: editedDepthMax }))
    return refuse(
      'invalid_request',
      `args: at most ${editedBytesMax} bytes, and ${editedDepthMax} levels deep`,
      'Put long text into a file of the workspace.',
    );
  if (args !== undefined && !isWellFormed(args))
    return refuse(
      'invalid_request',
      'args: a text contains an incomplete character',
      'Send whole characters.',
    );
  if (args !== undefined && call.route?.kind === 'runtime')
    return refuse(
      'invalid_request',
      'args: the agent runs this call itself, with its own arguments',
      'Reject the call with a reason that says what to change.',
    );
  if (remember === undefined) return undefined;
  if (policy.grants.length >= grantsPerSessionMax)
    return refuse(
      'resource_limit_exceeded',
      `a session has at most ${grantsPerSessionMax} grants`,
      'Withdraw one that is no longer needed.',
    );
  if (remember === 'session') return undefined;
  if (!hasWords(call))
    return refuse(
      'invalid_request',
      'remember: only commands have a prefix',
      'Use remember "session" for this tool.',
    );
  if (literalWords(remember.prefix) === undefined)
    return refuse(
      'invalid_request',
      'remember.prefix: only plain words of a command',
      'Leave out operators, unclosed quotes, variables and patterns.',
    );
  return undefined;
};

const refuse = (code: Refusal['code'], message: string, suggestion: string): Judged => ({
  refusal: { code, message, suggestion },
});

type Making = {
  readonly at: number;
  readonly by: Decider;
  /** Of the call with the changed arguments. */
  readonly editedDigest?: string | undefined;
  /** For the grant, if one is made. */
  readonly grantId: string;
  readonly identity: string;
};

/** The event of a decision that is not refused. */
export const decidedEvent = (
  call: ToolCall,
  { approved, reason, args, remember }: Decision,
  { at, by, editedDigest, grantId, identity }: Making,
): Extract<TurnEvent, { type: 'call-decided' }> => {
  const grant: Grant | undefined = remember && {
    ...{ id: grantId, tool: call.name, identity, by, at },
    ...(remember === 'session' ? {} : { prefix: remember.prefix }),
  };
  return {
    type: 'call-decided',
    at,
    callId: call.callId as CallId,
    approved,
    by,
    ...(reason === undefined || reason === '' ? {} : { reason }),
    ...(args === undefined || editedDigest === undefined ? {} : { edited: { args, digest: editedDigest } }),
    ...(grant === undefined ? {} : { grant }),
  };
};
