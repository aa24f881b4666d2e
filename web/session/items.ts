/** Items of a conversation: the types of the reducer and of the pages, and the groups in which they are rendered. Pure. */
import type { ClientAction } from '#sdk/frames.ts';
import type { Approval, Decision } from '#sdk/routes.ts';
import type { ModelFailureOrigin, StopReason, ToolContent } from '#shared/domain/event-log.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { Decider } from '#shared/domain/principal.ts';
import type { LiveOutput, TextStream } from './text-stream.ts';

/** `ended`: the turn ended before the call was answered or decided. */
export type CallStatus =
  | 'requested'
  | 'waiting'
  | 'approved'
  | 'running'
  | 'done'
  | 'failed'
  | 'rejected'
  | 'ended';

/** The request about a call: its digest identifies the whole call. */
type ApprovalRequest = {
  readonly turnId: string;
  readonly digest: string;
  readonly askedAt: string;
  /** The arguments are truncated. */
  readonly isCut: boolean;
} & Pick<Approval, 'effect' | 'effectDigest' | 'effectMissing' | 'advisory'>;

/** The decision on a call, with its decider and time. */
export type Decided = {
  readonly isApproved: boolean;
  readonly by: Decider;
  /** ISO 8601. */
  readonly at: string;
  readonly reason: string | null;
  /** Arguments that run instead of the requested ones. */
  readonly editedArgs: JsonObject | null;
};

/** `decision` was made here and is unconfirmed; `queue` is the position among the waiting calls. */
export type CallItem = {
  readonly kind: 'call';
  readonly id: string;
  readonly callId: string;
  /** The child session of the call; null for the open session's own calls. */
  readonly childSession: string | null;
  readonly name: string;
  readonly args: JsonObject;
  /** The event with the full arguments, when these are truncated. */
  readonly argsCutSeq: number | null;
  readonly request: ApprovalRequest | null;
  readonly decided: Decided | null;
  readonly status: CallStatus;
  readonly decision: Decision | null;
  readonly queue: { readonly position: number; readonly total: number } | null;
  readonly live: LiveOutput;
  readonly content: readonly ToolContent[] | null;
  /** The error of a failed call. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** The event with the full result, when this one is truncated. */
  readonly cutSeq: number | null;
  readonly durationMs: number | null;
};

/** A file of the workspace that a message is about; with its kind when it is an image. */
export type AttachedFile = { readonly path: string; readonly mimeType?: string };
/** Of one message, instead of the session's own. */
export type MessageChoices = Pick<
  Extract<ClientAction, { readonly action: 'message' }>,
  'model' | 'thinking'
>;
/** The reason why the server did not take a message. */
export type Refusal = {
  readonly code: string;
  readonly message: string;
  readonly suggestions: readonly string[];
};
export type QuestionItem = {
  readonly kind: 'question';
  readonly id: string;
  readonly text: string;
  readonly delivery: 'sending' | 'accepted' | 'refused';
  /** Of a refused message. */
  readonly refusal?: Refusal;
  /** Of its acceptance: ISO 8601. */
  readonly at?: string;
  /** Absent: none. */
  readonly attachments?: readonly AttachedFile[];
  /** Made when it was written, and sent with it. */
  readonly choices?: MessageChoices;
};
export type AnswerItem = {
  readonly kind: 'answer';
  readonly id: string;
  readonly text: string;
  /** Null once complete. */
  readonly stream: TextStream | null;
  /** It broke off. */
  readonly isPartial?: true | undefined;
};
/** Thoughts of the model before the answer with this message id; `isPartial`: there were more. */
export type ThoughtsItem = Omit<AnswerItem, 'kind'> & {
  readonly kind: 'thoughts';
  /** The answer has begun. */
  readonly isOver?: true;
};
/** The provider's fault is waited out. */
export type RetryItem = {
  readonly kind: 'retry';
  readonly id: string;
  readonly message: string;
  readonly provider: string;
  /** The number of the try that failed, from 1. */
  readonly attempt: number;
  /** ISO 8601. */
  readonly retryAt: string;
};
type NoteItem = {
  readonly kind: 'note';
  readonly id: string;
  readonly text: string;
  readonly at: string;
};
export type FailureItem = {
  readonly kind: 'failure';
  readonly id: string;
  readonly code: string;
  readonly message: string;
  readonly suggestions: readonly string[];
  /** Of a failure of the provider. */
  readonly origin?: ModelFailureOrigin;
};
export type EndItem = {
  readonly kind: 'end';
  readonly id: string;
  readonly stopReason: StopReason;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** ISO 8601. */
  readonly at: string;
  /** The answer that ended the turn, from which the conversation can be branched. */
  readonly answerId?: string | undefined;
};

export type Item =
  | QuestionItem
  | AnswerItem
  | ThoughtsItem
  | RetryItem
  | CallItem
  | NoteItem
  | FailureItem
  | EndItem;
export type Items = readonly Item[];

export const groupItems = 40;
export const groupsShownMin = 4;

/** A part of a long conversation, which renders only its newest groups; an unchanged group keeps its identity. */
export type Group = { readonly key: string; readonly items: readonly Item[] };

/** Groups begin at fixed numbers, counted from the first item: adding one changes the last group alone. */
export const groupsOf = (items: Items, before: readonly Group[]): readonly Group[] =>
  Array.from({ length: Math.ceil(items.length / groupItems) }, (_, index) => {
    const start = index * groupItems;
    const old = before[index];
    return old !== undefined && isSame(old.items, items, start)
      ? old
      : { key: `group-${index}`, items: items.slice(start, start + groupItems) };
  });

const isSame = (group: readonly Item[], items: Items, start: number): boolean =>
  group.length === Math.min(groupItems, items.length - start) &&
  group.every((item, index) => item === items[start + index]);
