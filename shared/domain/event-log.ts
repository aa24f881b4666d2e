/**
 * The session's log: what happened, numbered from 0 without gaps; every client view is made of it.
 *
 * An entry is what a decision wants to publish; an event is an entry with its number and its time. Deltas and
 * progress are best effort and never stored.
 */
import type { Attachment } from './attachment.ts';
import type { Effect } from './effect.ts';
import type { CallId, MessageId, TurnId } from './ids.ts';
import type { Json, JsonObject } from './json.ts';
import { eventsPerSessionMax } from './limits.ts';
import type { ProviderName, TokenUsage } from './model.ts';
import type { Decider } from './principal.ts';
import { utf8Bytes } from './text.ts';

/** An MCP content block, as a tool returned it. */
export type ToolContent = { readonly type: string; readonly [key: string]: Json };

export const stopReasons = [
  'end_turn',
  'max_tokens',
  'cancelled',
  'error',
  'budget_exceeded',
  'steps_exceeded',
  'refused',
] as const;
export type StopReason = (typeof stopReasons)[number];

export type LogEntry =
  | { readonly type: 'system'; readonly data: { readonly kind: string; readonly [key: string]: Json } }
  | {
      readonly type: 'message';
      readonly data: {
        readonly messageId: MessageId;
        readonly role: 'user' | 'assistant';
        readonly text: string;
        /** Of a user's message: the files of the workspace that it is about. */
        readonly attachments?: readonly Attachment[];
        /** The answer broke off: there is no more of it. */
        readonly partial?: true;
      };
    }
  | {
      /** Thoughts of the model before the answer of that id, as its provider shows them. */
      readonly type: 'reasoning';
      readonly data: {
        readonly messageId: MessageId;
        readonly text: string;
        /** There was more of it. */
        readonly truncated?: true;
      };
    }
  | {
      readonly type: 'tool:call';
      readonly data: {
        readonly callId: CallId;
        readonly name: string;
        readonly args: JsonObject;
        /** The sub-agent of a program that called it. */
        readonly agent?: string;
      };
    }
  | {
      readonly type: 'tool:approval_required';
      readonly data: {
        readonly turnId: TurnId;
        readonly callId: CallId;
        readonly name: string;
        readonly args: JsonObject;
        /** Digest of the whole call, in lower-case hexadecimal (turn/waiting-call.ts). */
        readonly digest: string;
        /** ISO 8601, UTC. */
        readonly askedAt: string;
        /** 1-based. */
        readonly queuePosition: number;
        readonly totalInQueue: number;
        /** Of a call that was tried: what it does, and the digest that an approval names. */
        readonly effect?: Effect;
        readonly effectDigest?: string;
        /** The reason for which the effect of a call is not known, where one is asked by effects. */
        readonly effectMissing?: string;
        /** A program of the sandbox asks about its own act: the sandbox, not the question, is the wall. */
        readonly advisory?: true;
      };
    }
  | {
      /** Every call is decided once: by a person, by a grant or by the session's policy. */
      readonly type: 'tool:decided';
      readonly data: {
        readonly turnId: TurnId;
        readonly callId: CallId;
        readonly name: string;
        readonly approved: boolean;
        readonly by: Decider;
        readonly digest: string;
        /** Digest of the call as the person changed it: that one runs. */
        readonly editedDigest?: string;
        readonly editedArgs?: JsonObject;
        readonly reason?: string;
      };
    }
  | {
      readonly type: 'tool:output';
      readonly data: {
        readonly callId: CallId;
        readonly name: string;
        readonly content: readonly ToolContent[];
        readonly durationMs: number;
        /** Of a program that carries its turn: the call failed, and who had called it. */
        readonly isError?: true;
        readonly agent?: string;
      };
    }
  | { readonly type: 'tool:rejected'; readonly data: { readonly callId: CallId; readonly name: string } }
  | {
      /** A request to a client to run a tool that it offered. */
      readonly type: 'caller_tool:request';
      readonly data: {
        readonly requestId: string;
        readonly callerId: string;
        readonly name: string;
        readonly args: JsonObject;
      };
    }
  | {
      /** Connections of the sandbox to a host outside that have ended or were refused, joined when there were many. */
      readonly type: 'egress';
      readonly data: {
        readonly host: string;
        readonly port: number;
        readonly allowed: boolean;
        /** From the host into the sandbox. */
        readonly bytesIn: number;
        readonly bytesOut: number;
        readonly connections: number;
        /** They ended because the session has used its bytes. */
        readonly isOverLimit?: true;
      };
    }
  | {
      readonly type: 'agent:error';
      readonly data: {
        readonly code: string;
        readonly message: string;
        readonly callId?: CallId;
      } & Partial<ModelFailureOrigin>;
    }
  | {
      readonly type: 'completion';
      readonly data: {
        readonly turnId: TurnId;
        readonly stopReason: StopReason;
        readonly text: string;
        readonly usage: TokenUsage;
        /** The cost of all model calls of the session, by the price table. */
        readonly sessionCostUsd: number;
        /** Of a turn that used a sandbox: its last checkpoint, and whether later changes are lost. */
        readonly workspace?: { readonly savedAt?: string; readonly lost?: true };
      };
    };

/** The provider that failed to answer. */
export type ModelFailureOrigin = {
  readonly provider: ProviderName;
  /** The number of tries, from 1. */
  readonly attempt: number;
  /** When the provider may answer, if it says so: ISO 8601, UTC. */
  readonly retryAt?: string;
};

/** The end of a turn. */
export type Completion = Extract<LogEntry, { type: 'completion' }>['data'];

export const completionOf = (log: readonly LogEntry[]): Completion | undefined => {
  const entry = log.find(({ type }) => type === 'completion');
  return entry?.type === 'completion' ? entry.data : undefined;
};

/** The text of a result for the model; content without text is named by its type, and what is for people alone is not. */
export const textOf = (content: readonly ToolContent[]): string =>
  content
    .filter(isForModel)
    .map((block) => (typeof block['text'] === 'string' ? block['text'] : `[${block.type}]`))
    .join('\n');

/** Of the sandbox's own results alone: blocks of other servers come without annotations. */
const isForModel = ({ annotations }: ToolContent): boolean => {
  const audience = (annotations as { readonly audience?: unknown } | undefined)?.audience;
  return !Array.isArray(audience) || audience.includes('assistant');
};

export type LogEvent = LogEntry & {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** Numbers entries without gaps (T14): the first gets `firstSeq`. */
export const numberEntries = (
  entries: readonly LogEntry[],
  { firstSeq, at }: { readonly firstSeq: number; readonly at: number },
): readonly LogEvent[] => entries.map((entry, index) => ({ ...entry, seq: firstSeq + index, at }));

/** True where a turn begins that repeats the message of a failed one. */
export const isRepetition = (entry: LogEntry): boolean =>
  entry.type === 'system' && entry.data.kind === 'turn_retried';

const beginsTurn = (entry: LogEntry): boolean =>
  isRepetition(entry) || (entry.type === 'message' && entry.data.role === 'user');

/** The events from the message that began the latest turn on; all of them when it began before the first. */
export const ofLatestTurn = (events: readonly LogEvent[]): readonly LogEvent[] =>
  events.slice(Math.max(0, events.findLastIndex(beginsTurn)));

/** The log is a ring: the number of the oldest event that can still be read (0 for a short log). */
export const oldestKept = (lastSeq: number): number => Math.max(0, lastSeq - eventsPerSessionMax + 1);

/** True for a page after `since` that lacks no event before its last. */
export const isWhole = (events: readonly LogEvent[], since: number): boolean =>
  events.every(({ seq }, index) => seq === since + 1 + index);

/** As many of the first events as have so many bytes together, as JSON, and at least one. */
export const withinBytes = <T>(events: readonly T[], bytesMax: number): readonly T[] => {
  let bytes = 0;
  const over = events.findIndex((event, index) => {
    bytes += bytesOf(event);
    return bytes > bytesMax && index > 0;
  });
  return over < 0 ? events : events.slice(0, over);
};

export const bytesOf = (event: unknown): number => utf8Bytes(JSON.stringify(event));
