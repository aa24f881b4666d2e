/**
 * The turn: one user message, carried to one final answer. Its states, events and effects.
 *
 * Only vocabulary: `reduce.ts` decides, `pending-work.ts` gives what a state still owes. Specification,
 * total transition table and invariants T1..T16: docs/spec/turn.md.
 */

import type { Attachment } from '../attachment.ts';
import type { LastDecision } from '../audit-seal.ts';
import type { EffectPolicy } from '../effect-rule.ts';
import type { LogEntry, ModelFailureOrigin, StopReason, ToolContent } from '../event-log.ts';
import type { HistoryImage, HistoryMessage } from '../history.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { AnswerEnd, TokenUsage } from '../model.ts';
import type { Decider } from '../principal.ts';
import type { ToolRoute } from '../requested-call.ts';
import type { RuntimeWork } from '../runtime.ts';
import type { AgentRuntime } from '../runtime-name.ts';
import type { ApprovalMode } from '../session.ts';
import type { TokenMeasure } from '../token-measure.ts';
import type { Grant } from './grant.ts';
import type { PrintedOutput } from './printed.ts';
import type { SavedFiles, UnsavedFiles } from './saved-files.ts';
import type { AskedCall, CallWait, Edited, SandboxWait, ToolCall, TurnCall } from './tool-call.ts';
import type { CallTrial, TriedCall } from './trial.ts';
import type { UnansweredCall } from './unanswered-call.ts';

/** Which calls run without asking. */
export type ApprovalPolicy = {
  readonly mode: ApprovalMode;
  readonly grants: readonly Grant[];
  readonly effects?: EffectPolicy;
};

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
  /** The model knows that files were not saved, */
  readonly knowsLoss?: true;
  /** and in the sandbox of which generation. */
  readonly knowsLossOf?: number;
  readonly unsaved?: UnsavedFiles;
  /** The message's own; absent: the session's. */
  readonly model?: string;
  /** Absent: the platform's own loop carries it. */
  readonly runtime?: RuntimeWork;
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
  | {
      readonly kind: 'done';
      readonly turnId: TurnId;
      readonly stopReason: StopReason;
      /** Of a turn that ended with `error`: its message, which may be repeated. */
      readonly failed?: { readonly messageId: MessageId; readonly model?: string };
    };

/** The text of an answer that has no end. */
export type PartialAnswer = { readonly messageId: MessageId; readonly text: string };

/** Thoughts before an answer: `truncated` when there were more than are kept. */
export type Reasoning = { readonly text: string; readonly truncated?: true };

export type TurnEvent = { readonly at: number } & (
  | {
      readonly type: 'started';
      readonly turnId: TurnId;
      readonly message: {
        readonly messageId: MessageId;
        readonly text: string;
        readonly attachments?: readonly Attachment[];
      };
      readonly policy: ApprovalPolicy;
      /** Dollars that the session had cost before. */
      readonly spentUsd: number;
      /** The message's own; absent: the session's. */
      readonly model?: string;
      /** The failed turn of this message, which is in the conversation already. */
      readonly repeats?: TurnId;
      /** The program that carries it; absent: the platform's own loop. */
      readonly runtime?: AgentRuntime;
    }
  /** The prompt is about to be handed over in this sandbox. */
  | { readonly type: 'runtime-began'; readonly generation: number }
  /** Facts of the program, in their order. */
  | {
      readonly type: 'runtime-moved';
      readonly generation: number;
      /** The number of the last fact before them, and of the last of them. */
      readonly after: number;
      readonly to: number;
      readonly log: readonly LogEntry[];
      readonly asked: readonly TurnCall[];
      /** Calls of a model. */
      readonly steps: number;
      /** Calls of tools that it has made. */
      readonly toolCalls: number;
      /** They are more than the slices of its session had left. */
      readonly isOverCalls?: true;
      readonly usage: TokenUsage;
      /** Dollars that the session has cost so far. */
      readonly spentUsd: number;
      /** The text of its last answer, if one is among them. */
      readonly answer?: { readonly messageId: MessageId; readonly text: string };
      readonly end?: { readonly stopReason: StopReason; readonly text: string };
      readonly files?: SavedFiles;
    }
  /** Usage and cost are of all its tries. Of earlier ones that part was unsettled, which it is no more: `unsettledUsd` is negative. */
  | ({
      readonly type: 'model-answered';
      readonly step: number;
      readonly messageId: MessageId;
      readonly text: string;
      readonly calls: readonly AskedCall[];
      readonly end: AnswerEnd;
      readonly usage: TokenUsage;
      readonly costUsd: number;
      /** The model's thoughts, as far as the provider showed them. */
      readonly reasoning?: Reasoning;
      /** Understood only by its provider, which wants it back with the message. */
      readonly providerState?: JsonObject;
      /** As the save that ran beside the call left them. */
      readonly files?: SavedFiles;
      /** The calls that its slices pay for. Absent: any number. */
      readonly toolCallsMax?: number;
      /** Of the request that it answers, if its history is long. */
      readonly measured?: TokenMeasure;
    } & Omit<UnansweredCall, 'known'>)
  | ({
      readonly type: 'model-failed';
      readonly step: number;
      readonly code: string;
      readonly message: string;
      /** For a failure of the provider. */
      readonly origin?: ModelFailureOrigin;
      /** The text that had come before. */
      readonly partial?: PartialAnswer;
    } & UnansweredCall)
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
  /** A fork is made to try this call in. */
  | { readonly type: 'trial-started'; readonly callId: CallId; readonly session: SessionId }
  /** It was tried, or cannot be: a rule decides it by its effect, or a person is asked now. */
  | {
      readonly type: 'trial-ended';
      readonly callId: CallId;
      readonly trial: Exclude<CallTrial, { state: 'due' }>;
      /** A person is asked, whatever the rules say: the turn has no slot to go on with. */
      readonly asks?: true;
    }
  /** The workspace has changed since the call was tried: the call is tried again, and a person is asked again. */
  | { readonly type: 'trial-outdated'; readonly callId: CallId }
  | { readonly type: 'calls-started'; readonly callIds: readonly CallId[]; readonly generation: number }
  | {
      readonly type: 'call-delegated';
      readonly callId: CallId;
      readonly wait: CallWait;
      readonly log: readonly LogEntry[];
    }
  | {
      readonly type: 'call-unsent';
      readonly callId: CallId;
      readonly generation: number;
      readonly notice?: string;
    }
  | { readonly type: 'call-detached'; readonly callId: CallId; readonly wait: SandboxWait }
  | {
      readonly type: 'call-finished';
      readonly callId: CallId;
      readonly content: readonly ToolContent[];
      /** The result as the model reads it. */
      readonly text: string;
      /** The images that the model sees beside it. */
      readonly images?: readonly HistoryImage[];
      readonly durationMs: number;
    }
  | { readonly type: 'call-failed'; readonly callId: CallId; readonly code: string; readonly message: string }
  | ({
      readonly type: 'cancelled';
      readonly printed?: PrintedOutput;
      /** The text of the answer that the cancel cut off. */
      readonly partial?: PartialAnswer;
    } & UnansweredCall)
);

export type EventOf<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>;

/** Work the shell performs at least once; `key` is the idempotency key all the way down. */
export type TurnEffect =
  | { readonly type: 'call-model'; readonly key: string; readonly step: number }
  | { readonly type: 'drive-runtime'; readonly key: string; readonly runtime: RuntimeWork }
  | {
      readonly type: 'run-tool';
      readonly key: string;
      readonly callId: CallId;
      readonly name: string;
      readonly args: JsonObject;
      readonly route?: ToolRoute;
      readonly generation?: number;
      /** Its result is applied; it does not run again. */
      readonly tried?: TriedCall;
    }
  | {
      readonly type: 'try-call';
      readonly key: string;
      readonly callId: CallId;
      readonly name: string;
      readonly args: JsonObject;
      /** Of a trial that has begun and not ended. */
      readonly session?: SessionId;
    };

export type TrialEffect = Extract<TurnEffect, { type: 'try-call' }>;
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

/** A turn as it is stored: a commit names the version it read, and writes the next (T15). Its outbox is `pendingWork(state)`. */
export type TurnRecord = {
  readonly version: number;
  readonly state: TurnState;
  /** Where the next history message goes. */
  readonly historyNext: number;
  /** The first history message that counts: earlier ones were cleared. */
  readonly historyFrom: number;
  /** The first that is still in the table: one write deletes only some of the cleared ones. */
  readonly historyKept: number;
  /** The number of items it is stored in, when in more than one: the next version deletes those that it does not need. */
  readonly parts?: number;
  /** The number of items of each message that is in more than one, by its index: they are deleted together. */
  readonly historyParts?: Readonly<Record<string, number>>;
  /** The newest decision of the session in the audit log. */
  readonly decided?: LastDecision;
  /** Of the last answer to a long history. */
  readonly measured?: TokenMeasure;
};

export const isBetweenTurns = ({ kind }: TurnState): boolean => kind === 'idle' || kind === 'done';

export const noTurn: TurnRecord = {
  version: 0,
  state: { kind: 'idle' },
  ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
};
