/**
 * The queue of tool calls inside a turn: how asked calls become a queue, how a human's decision moves it,
 * and what an ended call tells the user and the model.
 */

import { type AskedCall, toolIdentity } from '../asked-call.ts';
import type { LogEntry } from '../event-log.ts';
import type { HistoryMessage } from '../history.ts';
import type { CallId } from '../ids.ts';
import type { TokenUsage } from '../model.ts';
import { needsHuman } from './policy.ts';
import type { ApprovalPolicy, Deciding, Repetition, ToolCall, TurnEvent, TurnLimits } from './turn.ts';

type Said = { readonly log: readonly LogEntry[]; readonly history: readonly HistoryMessage[] };
type EventOf<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>;

export const noUsage: TokenUsage = { inputTokens: 0, outputTokens: 0 };

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

/** Calls over the limit are left out (T2); an id that a provider repeats is told apart by its place (T3). */
export const askedCalls = (
  asked: readonly AskedCall[],
  { policy, repetition }: { readonly policy: ApprovalPolicy; readonly repetition: Repetition },
  limits: TurnLimits,
): readonly ToolCall[] => {
  const kept = asked.slice(0, limits.callsMax);
  const given = kept.map(({ callId }) => callId);
  return kept.map((call, index) => {
    const callId = given.indexOf(call.callId) < index ? ownId(call.callId, index, given) : call.callId;
    const askedHuman = needsHuman(call, policy, repetition);
    return { ...call, callId, askedHuman, status: askedHuman ? 'pending' : 'approved' };
  });
};

/** Says that calls over the limit were left out: the model never sees them asked. */
export const leftOut = (asked: number, kept: number): readonly LogEntry[] =>
  asked === kept
    ? []
    : [
        {
          type: 'agent:error',
          data: {
            code: 'resource_limit_exceeded',
            message: `the model asked for ${asked} calls at once; the first ${kept} are taken`,
          },
        },
      ];

/** As many `-<index>` as it takes to meet no id that the provider gave. */
const ownId = (callId: CallId, index: number, given: readonly CallId[]): CallId => {
  const next = `${callId}-${index}` as CallId;
  return given.includes(next) ? ownId(next, index, given) : next;
};

/** Asks for the first waiting call, one at a time; calls a policy allowed are not counted. */
export const firstApproval = (calls: readonly ToolCall[]): readonly LogEntry[] => {
  const waiting = calls.find((call) => call.status === 'pending');
  return waiting === undefined ? [] : [approvalRequest(waiting, calls)];
};

/** `queuePosition` is 1-based among the calls of this queue that were not allowed by a policy. */
export const approvalRequest = (
  { callId, name, args }: ToolCall,
  calls: readonly ToolCall[],
): Extract<LogEntry, { type: 'tool:approval_required' }> => {
  const asked = calls.filter((call) => call.askedHuman);
  const queuePosition = asked.findIndex((call) => call.callId === callId) + 1;
  return {
    type: 'tool:approval_required',
    data: { callId, name, args, queuePosition, totalInQueue: asked.length },
  };
};

/** One decision; `remember` also approves every waiting call of the same tool. */
export const decideCall = (
  { calls, policy }: Deciding,
  waiting: ToolCall,
  event: EventOf<'call-decided'>,
): Said & { readonly calls: readonly ToolCall[]; readonly policy: ApprovalPolicy } => {
  const { callId, name } = waiting;
  if (!event.approved) {
    return {
      calls: calls.map((call) => (call === waiting ? { ...call, status: 'rejected' } : call)),
      policy,
      log: [{ type: 'tool:rejected', data: { callId, name } }],
      history: [
        {
          role: 'tool',
          callId,
          name,
          text: 'The user rejected this call. It did not run.',
          outcome: 'rejected',
        },
      ],
    };
  }
  const isApproved = (call: ToolCall): boolean =>
    call === waiting ||
    (event.remember && call.status === 'pending' && toolIdentity(call) === toolIdentity(waiting));
  return {
    calls: calls.map((call) => (isApproved(call) ? { ...call, status: 'approved' } : call)),
    policy: event.remember
      ? { ...policy, rememberedTools: [...policy.rememberedTools, toolIdentity(waiting)] }
      : policy,
    log: [],
    history: [],
  };
};

/** What an ended call says: its output, or its failure to the user and to the model. */
export const resultOf = (
  { callId, name }: ToolCall,
  event: EventOf<'call-finished'> | EventOf<'call-failed'>,
): Said & { readonly status: 'completed' | 'failed' } => {
  if (event.type === 'call-finished') {
    const { content, durationMs, text } = event;
    return {
      status: 'completed',
      log: [{ type: 'tool:output', data: { callId, name, content, durationMs } }],
      history: [{ role: 'tool', callId, name, text, outcome: 'completed' }],
    };
  }
  const message = `Tool ${name} failed: ${event.message}`;
  return {
    status: 'failed',
    log: [{ type: 'agent:error', data: { code: event.code, message, callId } }],
    history: [{ role: 'tool', callId, name, text: message, outcome: 'failed' }],
  };
};
