/**
 * The event of a turn that a program's facts make: entries for the log, questions for the queue, what it used, its end.
 *
 * The log shows its calls and outputs as those of any turn; a call of a sub-agent names it.
 */

import type { LogEntry, StopReason } from '../../../domain/event-log.ts';
import type { CallId, MessageId } from '../../../domain/ids.ts';
import { noUsage } from '../../../domain/model.ts';
import type { RequestedCall } from '../../../domain/requested-call.ts';
import type { RuntimeEvent, RuntimeFact, RuntimeWork } from '../../../domain/runtime.ts';
import { addUsage } from '../../../domain/turn/call-queue.ts';
import type { EventOf, Thinking } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';
import type { TurnContext } from '../holder/turn-context.ts';
import { identifyCalls } from '../model/identify-calls.ts';

type Heard = {
  readonly state: Thinking & { readonly runtime: RuntimeWork };
  /** At least one, in order. */
  readonly events: readonly RuntimeEvent[];
  /** Dollars that the session has cost so far. */
  readonly spentUsd: number;
  /** Of tools, in the slices of its session. Absent: any number. */
  readonly callsLeft?: number | undefined;
};

export const toolCallsOf = (events: Heard['events']): number =>
  events.filter(({ fact }) => fact.type === 'call').length;

/** As many as a queue takes questions: one over its limit would be in the log and never be answered (RT4). */
export const withinQueue = (events: Heard['events'], questionsMax: number): Heard['events'] => {
  const questions = events.filter(({ fact }) => fact.type === 'asked');
  const over = questions[questionsMax];
  return over === undefined ? events : events.slice(0, events.indexOf(over));
};

export const movedBy = (
  { world }: Deps<'world'>,
  { history }: TurnContext,
  { state, events, spentUsd, callsLeft = Number.POSITIVE_INFINITY }: Heard,
): EventOf<'runtime-moved'> => {
  const { runtime, turnId } = state;
  const at = world.now();
  const facts = events.map(({ fact }) => fact);
  const questions = facts.filter((fact) => fact.type === 'asked');
  const preparation = { turnId, history: [], routeOf: () => undefined, isOffered: () => true, at };
  const steps = facts.filter((fact) => fact.type === 'step');
  const text = facts.findLast((fact) => fact.type === 'text');
  const answer = text && { messageId: text.messageId as MessageId, text: text.text };
  const ended = facts.find((fact) => fact.type === 'ended');
  return {
    type: 'runtime-moved',
    at,
    generation: runtime.generation ?? 0,
    after: runtime.taken,
    to: events.at(-1)?.number ?? runtime.taken,
    log: facts.flatMap(entriesOf),
    asked: identifyCalls(world, questions.map(askedBy), preparation).map((call, place) => ({
      ...call,
      route: { kind: 'runtime', runtime: runtime.name, question: questions[place]?.permission ?? '' },
    })),
    steps: steps.length,
    toolCalls: toolCallsOf(events),
    ...(toolCallsOf(events) > callsLeft ? { isOverCalls: true as const } : {}),
    usage: steps.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
    spentUsd,
    ...(answer === undefined ? {} : { answer }),
    ...(ended === undefined
      ? {}
      : { end: { stopReason: stopReasonOf(ended), text: answer?.text ?? lastAnswer(history) } }),
  };
};

type Of<Type extends RuntimeFact['type']> = Extract<RuntimeFact, { type: Type }>;

/** A question about a call has its id, so that clients show both as one. */
const askedBy = ({ permission, callId = permission, name, args, agent }: Of<'asked'>): RequestedCall => ({
  callId: callId as CallId,
  name,
  args: agent === undefined ? args : { ...args, agent },
});

/** The last text of this turn, where an earlier step wrote it. */
const lastAnswer = (history: TurnContext['history']): string => {
  const last = history.at(-1);
  return last?.role === 'assistant' ? last.text : '';
};

const stopReasonOf = ({ reason }: Of<'ended'>): StopReason => {
  if (reason === 'finished') return 'end_turn';
  return reason === 'aborted' ? 'cancelled' : 'error';
};

const entriesOf = (fact: RuntimeFact): readonly LogEntry[] => {
  switch (fact.type) {
    case 'text':
      return [{ type: 'message', data: { messageId: idOf(fact), role: 'assistant', text: fact.text } }];
    case 'reasoning':
      return [{ type: 'reasoning', data: { messageId: idOf(fact), text: fact.text } }];
    case 'call': {
      const { callId, name, args, agent } = fact;
      return [{ type: 'tool:call', data: { callId: callId as CallId, name, args, ...by(agent) } }];
    }
    case 'output':
      return [outputEntry(fact)];
    case 'file':
      return [{ type: 'system', data: { kind: 'file_changed', path: fact.path } }];
    case 'sub-agent':
      return [{ type: 'system', data: { kind: 'sub_agent_started', agent: fact.agent } }];
    case 'fault':
      return [{ type: 'agent:error', data: { code: 'tool_failed', message: fact.message } }];
    case 'ended':
      return failureEntries(fact);
    case 'asked':
    case 'step':
      return [];
  }
};

const idOf = ({ messageId }: Of<'text' | 'reasoning'>): MessageId => messageId as MessageId;
const by = (agent: string | undefined) => (agent === undefined ? {} : { agent });

const outputEntry = ({ callId, name, text, isError, durationMs, agent }: Of<'output'>): LogEntry => ({
  type: 'tool:output',
  data: {
    callId: callId as CallId,
    name,
    content: [{ type: 'text', text }],
    durationMs,
    ...(isError ? { isError: true as const } : {}),
    ...by(agent),
  },
});

const failureEntries = ({ reason, message = 'it gave no reason' }: Of<'ended'>): readonly LogEntry[] =>
  reason === 'failed' || reason === 'lost'
    ? [{ type: 'agent:error', data: { code: 'tool_failed', message: `the agent failed: ${message}` } }]
    : [];
