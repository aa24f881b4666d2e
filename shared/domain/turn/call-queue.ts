/** The queue of tool calls in a turn: it is made of the calls that the model asks for, and moved by decisions of people. */

import type { LogEntry } from '../event-log.ts';
import type { HistoryMessage } from '../history.ts';
import type { CallId, TurnId } from '../ids.ts';
import { toolNameCharactersMax } from '../limits.ts';
import type { TokenUsage } from '../model.ts';
import type { Decider } from '../principal.ts';
import { problemOfArgs, type RequestedCall } from '../requested-call.ts';
import { cutBytes } from '../text.ts';
import { allowedBy, trialFor } from './approval-policy.ts';
import { resultOf, withoutValues } from './call-result.ts';
import { grantFor } from './grant.ts';
import type { AskedCall, ToolCall, TurnCall } from './tool-call.ts';
import type { ApprovalPolicy, Deciding, EventOf, Repetition, TurnLimits } from './turn.ts';

type Output = { readonly log: readonly LogEntry[]; readonly history: readonly HistoryMessage[] };

export const addUsage = (one: TokenUsage, other: TokenUsage): TokenUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  ...sumOf('cachedInputTokens', one, other),
  ...sumOf('cacheWriteInputTokens', one, other),
});

/** Counts that only some providers give: absent when neither has one. */
const sumOf = (
  name: 'cachedInputTokens' | 'cacheWriteInputTokens',
  one: TokenUsage,
  other: TokenUsage,
): Partial<TokenUsage> =>
  one[name] === undefined && other[name] === undefined
    ? {}
    : { [name]: (one[name] ?? 0) + (other[name] ?? 0) };

/**
 * The calls of an answer under ids of their own: none that the answer gives twice (T3), and none that the conversation has
 * had before, so that a decision about an earlier call fits no later one. Names that no tool can have are cut.
 */
export const distinctCalls = (
  asked: readonly RequestedCall[],
  taken: readonly CallId[],
): readonly RequestedCall[] => {
  const used = new Set<CallId>(taken);
  const given = new Set(asked.map(({ callId }) => callId));
  return asked.map((call, index) => {
    const callId = used.has(call.callId) ? ownId(call.callId, index, { used, given }) : call.callId;
    used.add(callId);
    return { ...call, callId, name: cutBytes(call.name, toolNameCharactersMax) };
  });
};

type Ids = { readonly used: ReadonlySet<CallId>; readonly given: ReadonlySet<CallId> };

/** The first `-<number>` that is neither used nor given by the provider, so that ids stay short however often one repeats. */
const ownId = (callId: CallId, from: number, ids: Ids): CallId => {
  for (let number = from; ; number += 1) {
    const next = `${callId}-${number}` as CallId;
    if (!ids.used.has(next) && !ids.given.has(next)) return next;
  }
};

/** The calls of an answer that its slices pay for (TM9); a refused answer has none. */
export const keptCalls = ({
  calls,
  end,
  toolCallsMax = calls.length,
}: Pick<EventOf<'model-answered'>, 'calls' | 'end' | 'toolCallsMax'>): readonly AskedCall[] =>
  end === 'refused' ? [] : calls.slice(0, toolCallsMax);

/** A call that no tool takes fails at once, beside the queue: no person is asked, and nothing runs. */
export const judgedCalls = (
  asked: readonly AskedCall[],
  { callsMax }: Pick<TurnLimits, 'callsMax'>,
  at: number,
): { readonly kept: readonly TurnCall[]; readonly fit: readonly TurnCall[]; readonly failures: Output } => {
  const kept = asked.slice(0, callsMax);
  const fit = kept.filter((call) => problemOf(call) === undefined);
  const results = kept.flatMap((call) => {
    const message = problemOf(call);
    if (message === undefined) return [];
    const { callId } = call;
    return [resultOf(call, { type: 'call-failed', at, callId, code: 'invalid_request', message })];
  });
  return {
    kept,
    fit,
    failures: {
      log: results.flatMap(({ log }) => log),
      history: results.flatMap(({ history }) => history),
    },
  };
};

const problemOf = ({ name, args, isUnknown }: AskedCall): string | undefined =>
  problemOfArgs(args) ?? (isUnknown === true ? `there is no tool ${name}` : undefined);

/** Calls over the limit are left out (T2); each of the others is asked, or allowed by a grant or by the mode. */
export const queuedCalls = (
  asked: readonly TurnCall[],
  { policy, repetition }: { readonly policy: ApprovalPolicy; readonly repetition: Repetition },
  limits: TurnLimits,
): readonly QueuedCall[] =>
  asked.slice(0, limits.callsMax).map((call) => {
    const by = allowedBy(call, policy, repetition);
    if (by === undefined)
      return { call: { ...call, ...trialFor(call, policy), askedHuman: true, status: 'pending' } };
    const grant = by.kind === 'grant' ? { grant: by.id } : {};
    return { call: { ...call, ...grant, askedHuman: false, status: 'approved' }, by };
  });

/** `by`: the grant or mode that allowed it; absent while a person has to. */
type QueuedCall = { readonly call: ToolCall; readonly by?: Decider };

type DecidedData = Extract<LogEntry, { type: 'tool:decided' }>['data'];

const decidedEntry = (
  turnId: TurnId,
  { callId, name, digest }: ToolCall,
  decision: Pick<DecidedData, 'approved' | 'by'> & Partial<DecidedData>,
): LogEntry => ({ type: 'tool:decided', data: { turnId, callId, name, digest, ...decision } });

/** Logs the grant or mode that allowed each call without a person (AP2). */
export const allowedEntries = (turnId: TurnId, queued: readonly QueuedCall[]): readonly LogEntry[] =>
  queued.flatMap(({ call, by }) =>
    by === undefined ? [] : [decidedEntry(turnId, call, { approved: true, by })],
  );

/** Says that calls over the limit were left out: the model never sees them asked. */
export const leftOut = (asked: number, kept: number): readonly LogEntry[] =>
  asked === kept
    ? []
    : [
        {
          type: 'agent:error',
          data: {
            code: 'resource_limit_exceeded',
            message:
              kept === 0
                ? 'the model requested calls of tools, of which its budget has none left'
                : `the model requested ${asked} calls at once; the first ${kept} are used`,
          },
        },
      ];

/** Asks for the first waiting call; calls that needed no person are not counted. */
export const firstApproval = (turnId: TurnId, calls: readonly ToolCall[]): readonly LogEntry[] => {
  const waiting = calls.find((call) => call.status === 'pending');
  if (waiting === undefined) return [];
  const { callId, name, trial } = waiting;
  return trial?.state === 'due'
    ? [{ type: 'system', data: { kind: 'call_trial', callId, name } }]
    : [approvalRequest(turnId, waiting, calls)];
};

/** `queuePosition` is 1-based among the calls of this queue that a person decides. */
export const approvalRequest = (
  turnId: TurnId,
  { callId, name, args, digest, askedAt, trial, route }: ToolCall,
  calls: readonly ToolCall[],
): Extract<LogEntry, { type: 'tool:approval_required' }> => {
  const asked = calls.filter((call) => call.askedHuman);
  const queuePosition = asked.findIndex((call) => call.callId === callId) + 1;
  return {
    type: 'tool:approval_required',
    data: {
      ...{ turnId, callId, name, args, digest, askedAt, queuePosition, totalInQueue: asked.length },
      ...shownTrial(trial),
      ...(route?.kind === 'runtime' ? { advisory: true as const } : {}),
    },
  };
};

const shownTrial = (trial: ToolCall['trial']) => {
  if (trial?.state === 'tried') return { effect: trial.effect, effectDigest: trial.effectDigest };
  return trial?.state === 'untried' ? { effectMissing: trial.reason } : {};
};

/** One decision; a grant that it makes also approves every waiting call that the grant covers. */
export const applyDecision = (
  { turnId, calls, policy }: Deciding,
  waiting: ToolCall,
  event: EventOf<'call-decided'>,
): Output & { readonly calls: readonly ToolCall[]; readonly policy: ApprovalPolicy } =>
  event.approved
    ? approveCall({ turnId, calls, policy }, waiting, event)
    : rejectCall({ turnId, calls, policy }, waiting, event);

type Queue = Pick<Deciding, 'turnId' | 'calls' | 'policy'>;

const rejectCall = (
  { turnId, calls, policy }: Queue,
  waiting: ToolCall,
  { by, reason }: EventOf<'call-decided'>,
) => {
  const { callId, name } = waiting;
  const why = reason === undefined ? {} : { reason };
  const text =
    reason === undefined
      ? 'The user rejected this call. It did not run.'
      : `The user rejected this call: ${reason}`;
  return {
    calls: calls.map((call) =>
      call === waiting
        ? {
            ...call,
            status: 'rejected' as const,
            ...(reason === undefined || call.route?.kind !== 'runtime' ? {} : { rejection: reason }),
          }
        : call,
    ),
    policy,
    log: [
      decidedEntry(turnId, waiting, { approved: false, by, ...why }),
      { type: 'tool:rejected' as const, data: { callId, name } },
    ],
    history: [{ role: 'tool' as const, callId, name, text, outcome: 'rejected' as const }],
  };
};

const approveCall = (
  { turnId, calls, policy }: Queue,
  waiting: ToolCall,
  { by, reason, edited, grant }: EventOf<'call-decided'>,
) => {
  const isCovered = (call: ToolCall): boolean =>
    call !== waiting &&
    call.status === 'pending' &&
    grant !== undefined &&
    grantFor(call, [grant]) !== undefined;
  const covered = grant === undefined ? {} : { grant: grant.id };
  const decision = {
    approved: true,
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(edited === undefined ? {} : { editedDigest: edited.digest, editedArgs: withoutValues(edited.args) }),
  };
  return {
    calls: calls.map((call) => {
      if (call === waiting)
        return { ...call, ...(edited === undefined ? {} : { edited }), status: 'approved' as const };
      return isCovered(call) ? { ...untriedYet(call), ...covered, status: 'approved' as const } : call;
    }),
    policy: grant === undefined ? policy : { ...policy, grants: [...policy.grants, grant] },
    log: [
      decidedEntry(turnId, waiting, decision),
      ...calls
        .filter(isCovered)
        .map((call) =>
          decidedEntry(turnId, call, { approved: true, by: { kind: 'grant', id: grant?.id ?? '' } }),
        ),
    ],
    history: [],
  };
};

/** A call that was to be tried runs as it is, once it is no longer decided by its effect. */
const untriedYet = ({ trial, ...call }: ToolCall): ToolCall =>
  trial === undefined || trial.state === 'due' ? call : { ...call, trial };
