/** What a conversation shows, one after the other: the vocabulary of the reducer and of the pages. */

import type { Decision } from '#sdk/routes.ts';
import type { StopReason, ToolContent } from '#shared/domain/event-log.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { Decider } from '#shared/domain/principal.ts';
import type { LiveOutput, TextStream } from './text-stream.ts';

/** `ended`: its turn is over, and it was neither answered nor decided. */
export type CallStatus =
  | 'asked'
  | 'waiting'
  | 'approved'
  | 'running'
  | 'done'
  | 'failed'
  | 'rejected'
  | 'ended';

/** The request about a call: its digest identifies the whole call. */
type Asked = {
  readonly turnId: string;
  readonly digest: string;
  /** The arguments that came with it are not all. */
  readonly isCut: boolean;
};

/** The decision on a call, with its decider and time. */
export type Decided = {
  readonly isApproved: boolean;
  readonly by: Decider;
  /** ISO 8601. */
  readonly at: string;
  readonly reason: string | null;
  /** Run instead of what was asked. */
  readonly editedArgs: JsonObject | null;
};

/** `decision` is what was said here and is not confirmed yet; `place` is the call's place among those that wait. */
export type CallItem = {
  readonly kind: 'call';
  readonly id: string;
  readonly callId: string;
  /** Of a session under the one that is open: decided like its own, and shown with it. */
  readonly childSession: string | null;
  readonly name: string;
  readonly args: JsonObject;
  /** The number of the event whose arguments came shortened: the log has more of them. */
  readonly argsCutSeq: number | null;
  readonly asked: Asked | null;
  readonly decided: Decided | null;
  readonly status: CallStatus;
  readonly decision: Decision | null;
  readonly place: { readonly position: number; readonly total: number } | null;
  readonly live: LiveOutput;
  readonly content: readonly ToolContent[] | null;
  /** Why it failed. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** The number of a result that came shortened: the log has more of it. */
  readonly cutSeq: number | null;
  readonly durationMs: number | null;
};

export type QuestionItem = {
  readonly kind: 'question';
  readonly id: string;
  readonly text: string;
  readonly delivery: 'sending' | 'accepted' | 'refused';
};
export type AnswerItem = {
  readonly kind: 'answer';
  readonly id: string;
  readonly text: string;
  /** While it is being written. */
  readonly stream: TextStream | null;
};
export type NoteItem = {
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
};
export type EndItem = {
  readonly kind: 'end';
  readonly id: string;
  readonly stopReason: StopReason;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
};

export type Item = QuestionItem | AnswerItem | CallItem | NoteItem | FailureItem | EndItem;
export type Items = readonly Item[];
