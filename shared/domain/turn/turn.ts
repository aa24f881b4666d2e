/**
 * The turn: one user message, carried to one final answer. Its states, events and effects.
 *
 * Only vocabulary: `reduce.ts` decides, `pending-work.ts` gives what a state still owes. Specification,
 * total transition table and invariants T1..T16: docs/spec/turn.md.
 */

import type { AskedCall, ToolRoute } from '../asked-call.ts';
import type { LogEntry, StopReason, ToolContent } from '../event-log.ts';
import type { HistoryMessage } from '../history.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { AnswerEnd, TokenUsage } from '../model.ts';
import type { Decider } from '../principal.ts';
import type { ApprovalMode } from '../session.ts';
import type { Grant } from './grant.ts';

export const callStatuses = ['pending', 'approved', 'rejected', 'executing', 'completed', 'failed'] as const;
export type CallStatus = (typeof callStatuses)[number];

/** A call with its place in a turn: its own id, and the digest of all that a person approves. */
export type TurnCall = AskedCall & {
  readonly digest: string;
  /** ISO 8601, UTC. */
  readonly askedAt: string;
};

/** The arguments that a person put in place, and the digest of the call with them. */
type Edited = { readonly args: JsonObject; readonly digest: string };

export type ToolCall = TurnCall & {
  readonly status: CallStatus;
  /** False when a policy allowed the call without a human. */
  readonly askedHuman: boolean;
  /** Runs in place of the arguments that the model gave. */
  readonly edited?: Edited;
  /** The grant that allowed it. */
  readonly grant?: string;
  /** The sandbox generation the call was started in: its outcome lives and dies with it. */
  readonly generation?: number;
  /** Of an executing call that a client or a child ends; no function runs until then. */
  readonly wait?: CallWait;
};

/** A call that a client answers, known by the id that was given out; over its time it has failed. */
export type CallerWait = {
  readonly id: string;
  /** Epoch milliseconds, both. */
  readonly since: number;
  readonly until: number;
};

/** A call that a child's answer to one message ends, however long it takes. */
export type ChildWait = {
  readonly id: string;
  readonly since: number;
  readonly child: { readonly session: SessionId; readonly message: MessageId };
};

export type CallWait = CallerWait | ChildWait;

/** The generation of a call that is started outside the sandbox: its outcome lives and dies with the function that runs it. */
export const remoteGeneration = 0;

/** Which calls run without asking. */
export type ApprovalPolicy = { readonly mode: ApprovalMode; readonly grants: readonly Grant[] };

/** The calls of the last answer, and how often in a row the model has asked for exactly them. */
export type Repetition = { readonly calls: string; readonly times: number };

type RunningTurn = {
  readonly turnId: TurnId;
  /** The user's message. */
  readonly messageId: MessageId;
  /** Counts model calls, from 1; a fence against late answers. */
  readonly step: number;
  readonly usage: TokenUsage;
  /** Dollars that the session's model calls have cost so far, this turn's included. */
  readonly spentUsd: number;
  readonly policy: ApprovalPolicy;
  readonly repetition?: Repetition;
};

export type Thinking = RunningTurn & { readonly kind: 'thinking' };
/** At least one call waits for a human. */
export type Deciding = RunningTurn & { readonly kind: 'deciding'; readonly calls: readonly ToolCall[] };
/** Every call is decided; approved ones run. */
export type Acting = RunningTurn & { readonly kind: 'acting'; readonly calls: readonly ToolCall[] };

/** A turn that has not ended. */
export type Running = Thinking | Deciding | Acting;

export type TurnState =
  | { readonly kind: 'idle' }
  | Thinking
  | Deciding
  | Acting
  | { readonly kind: 'done'; readonly turnId: TurnId; readonly stopReason: StopReason };

export type TurnEvent = { readonly at: number } & (
  | {
      readonly type: 'started';
      readonly turnId: TurnId;
      readonly message: { readonly messageId: MessageId; readonly text: string };
      readonly policy: ApprovalPolicy;
      /** Dollars that the session had cost before. */
      readonly spentUsd: number;
    }
  | {
      readonly type: 'model-answered';
      readonly step: number;
      readonly messageId: MessageId;
      readonly text: string;
      readonly calls: readonly TurnCall[];
      readonly end: AnswerEnd;
      readonly usage: TokenUsage;
      readonly costUsd: number;
      /** Understood by its provider alone, which wants it back with the message. */
      readonly providerState?: JsonObject;
    }
  | { readonly type: 'model-failed'; readonly step: number; readonly code: string; readonly message: string }
  /** The session's tree has nothing left: the model is not asked. */
  | { readonly type: 'budget-spent'; readonly step: number }
  | {
      readonly type: 'call-decided';
      readonly callId: CallId;
      readonly approved: boolean;
      readonly by: Decider;
      /** Of a rejection: the model reads it. */
      readonly reason?: string;
      readonly edited?: Edited;
      /** Allows later calls as well; only with an approval. */
      readonly grant?: Grant;
    }
  | { readonly type: 'grant-withdrawn'; readonly grantId: string }
  | { readonly type: 'calls-started'; readonly callIds: readonly CallId[]; readonly generation: number }
  | {
      readonly type: 'call-delegated';
      readonly callId: CallId;
      readonly wait: CallWait;
      readonly log: readonly LogEntry[];
    }
  | {
      readonly type: 'call-finished';
      readonly callId: CallId;
      readonly content: readonly ToolContent[];
      /** The result as the model reads it. */
      readonly text: string;
      readonly durationMs: number;
    }
  | { readonly type: 'call-failed'; readonly callId: CallId; readonly code: string; readonly message: string }
  | { readonly type: 'cancelled' }
);

export type EventOf<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>;

/** Work the shell performs at least once; `key` is the idempotency key all the way down. */
export type TurnEffect =
  | { readonly type: 'call-model'; readonly key: string; readonly step: number }
  | {
      readonly type: 'run-tool';
      readonly key: string;
      readonly callId: CallId;
      readonly name: string;
      readonly args: JsonObject;
      readonly route?: ToolRoute;
      readonly generation?: number;
    };

export type ToolEffect = Extract<TurnEffect, { type: 'run-tool' }>;

/** The end of a call. */
export type ToolResult = EventOf<'call-finished'> | EventOf<'call-failed'>;

export type TurnStep = {
  readonly state: TurnState;
  readonly log: readonly LogEntry[];
  readonly history: readonly HistoryMessage[];
  /** Why the event changed nothing. */
  readonly ignored?: string;
};

/** Everything has a limit; these are data so that a test can shrink them. */
export type TurnLimits = {
  readonly stepsMax: number;
  readonly callsMax: number;
  /** Dollars that the session's model calls may cost; the call that passes it is the last. */
  readonly usdMax: number;
};

/**
 * A turn as it is stored; a commit names the version it read and writes the next one (T15). The outbox is
 * `pendingWork(state)`: to commit the one is to commit the other.
 */
export type TurnRecord = {
  readonly version: number;
  readonly state: TurnState;
  /** Where the next history message goes. */
  readonly historyNext: number;
  /** The first history message that counts: what is before was forgotten. */
  readonly historyFrom: number;
  /** The first that is still in the table: a write deletes only so many of those that were forgotten. */
  readonly historyKept: number;
  /** The number of items it is stored in, when in more than one: the next version deletes those that it does not need. */
  readonly parts?: number;
};

export const isBetweenTurns = ({ kind }: TurnState): boolean => kind === 'idle' || kind === 'done';

export const noTurn: TurnRecord = {
  version: 0,
  state: { kind: 'idle' },
  historyNext: 0,
  historyFrom: 0,
  historyKept: 0,
};
