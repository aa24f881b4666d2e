/**
 * The session's log: what happened, numbered from 0 without gaps; every client view is made of it.
 *
 * An entry is what a decision wants to publish; an event is an entry with its number and its time. Deltas and
 * progress are best effort and never stored.
 */
import type { CallId, MessageId, TurnId } from './ids.ts';
import type { Json, JsonObject } from './json.ts';
import { eventsPerSessionMax } from './limits.ts';
import type { TokenUsage } from './model.ts';
import type { Decider } from './principal.ts';

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
      };
    }
  | {
      readonly type: 'tool:call';
      readonly data: { readonly callId: CallId; readonly name: string; readonly args: JsonObject };
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
      };
    }
  | { readonly type: 'tool:rejected'; readonly data: { readonly callId: CallId; readonly name: string } }
  | {
      /** A request to a client to run a tool that it offered. */
      readonly type: 'caller_tool:request';
      readonly data: { readonly requestId: string; readonly name: string; readonly args: JsonObject };
    }
  | {
      readonly type: 'agent:error';
      readonly data: { readonly code: string; readonly message: string; readonly callId?: CallId };
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
      };
    };

/** The end of a turn. */
export type Completion = Extract<LogEntry, { type: 'completion' }>['data'];

export const completionOf = (log: readonly LogEntry[]): Completion | undefined => {
  const entry = log.find(({ type }) => type === 'completion');
  return entry?.type === 'completion' ? entry.data : undefined;
};

/** The text of a result for the model; content without text is named by its type. */
export const textOf = (content: readonly ToolContent[]): string =>
  content.map((block) => (typeof block['text'] === 'string' ? block['text'] : `[${block.type}]`)).join('\n');

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

/** The events from the message that began the latest turn on; all of them when it began before the first. */
export const ofLatestTurn = (events: readonly LogEvent[]): readonly LogEvent[] =>
  events.slice(
    Math.max(
      0,
      events.findLastIndex((event) => event.type === 'message' && event.data.role === 'user'),
    ),
  );

/** The log is a ring: the number of the oldest event that can still be read (0 for a short log). */
export const oldestKept = (lastSeq: number): number => Math.max(0, lastSeq - eventsPerSessionMax + 1);
