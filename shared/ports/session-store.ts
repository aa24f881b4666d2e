/**
 * Sessions, their turns, logs, histories and inboxes: the platform's memory.
 *
 * Every method is one conditional write or one read; each says what it returns when it loses. Times are
 * epoch milliseconds. The conformance suite is tests/conformance/session-store.ts.
 */
import type { LogEntry, LogEvent } from '../domain/event-log.ts';
import type { HistoryMessage } from '../domain/history.ts';
import type { ConnectionId, MessageId, OwnerId, SessionId } from '../domain/ids.ts';
import type { Session, SessionStatus } from '../domain/session.ts';
import type { TurnRecord, TurnState } from '../domain/turn/turn.ts';

/** A user's message that waits for its turn. */
export type InboxMessage = {
  readonly messageId: MessageId;
  readonly text: string;
  readonly acceptedAt: number;
  readonly model?: string;
  readonly connectionId?: ConnectionId;
  readonly correlationId: string;
};

/** All a turn needs, read at once. Inbox and history are oldest first; a message stays in the inbox until it is completed. */
export type SessionWork = {
  readonly turn: TurnRecord;
  readonly inbox: readonly InboxMessage[];
  readonly history: readonly HistoryMessage[];
  readonly watchers: readonly ConnectionId[];
};

export type TurnCommit = {
  /** As last read: gives lastSeq, workSeq and the fence. */
  readonly session: Session;
  /** The lease the writer holds; absent for a decision made without one, which only the version guards. */
  readonly fence?: number;
  /** The version that was read; the record is written as the next one. */
  readonly version: number;
  readonly state: TurnState;
  readonly historyNext: number;
  readonly at: number;
  readonly log: readonly LogEntry[];
  readonly history: readonly HistoryMessage[];
  /** How many of the oldest history messages no longer fit, and the index of the first of them. */
  readonly forget?: { readonly from: number; readonly count: number };
  /** The message this commit completes: it leaves the inbox, and its connection may have one more. */
  readonly completed?: InboxMessage | undefined;
  readonly patch?: SessionPatch;
  /** Lets go of the lease, unless work came that the writer has not seen. */
  readonly release: boolean;
  /** Says that there is something to do now (a decided call). */
  readonly wakes: boolean;
  /** When the janitor looks at the session again, once the lease is let go. */
  readonly dueAt: number;
};

export type SessionPatch = Partial<
  Pick<Session, 'status' | 'usage' | 'rememberedTools' | 'lastActiveAt' | 'model'>
>;

export type CommitResult =
  | {
      readonly status: 'committed';
      readonly session: Session;
      readonly turn: TurnRecord;
      readonly events: readonly LogEvent[];
    }
  /** Somebody else holds the lease, or moved the turn: nothing was written. */
  | { readonly status: 'stale' }
  /** As `committed`, but the lease is still held: work came meanwhile. */
  | {
      readonly status: 'kept';
      readonly session: Session;
      readonly turn: TurnRecord;
      readonly events: readonly LogEvent[];
    };

/** `too-many`: the connection has that many open messages; `ended`: the session takes no more. */
export type AcceptResult = 'accepted' | 'duplicate' | 'too-many' | 'ended';

export interface SessionStore {
  /** `exists` when the id is taken: by whom, the caller reads. */
  create(session: Session): Promise<'created' | 'exists'>;
  get(id: SessionId): Promise<Session | undefined>;
  /** The session and its turn, in one read. */
  getWithTurn(id: SessionId): Promise<{ readonly session: Session; readonly turn: TurnRecord } | undefined>;
  /** Newest first. `after` is what the previous page gave as `next`. */
  list(
    owner: OwnerId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{
    readonly sessions: readonly Session[];
    readonly next?: string;
  }>;
  accept(id: SessionId, message: InboxMessage): Promise<AcceptResult>;
  /** Free, expired or already the holder's: theirs, under the next fence. Undefined when somebody else holds it. */
  takeLease(
    id: SessionId,
    lease: { readonly holder: string; readonly at: number; readonly until: number },
  ): Promise<Session | undefined>;
  /** False when the fence has passed. */
  renewLease(session: Session, until: number): Promise<boolean>;
  /** Lets go without a change; `kept` when work came meanwhile, `stale` when the fence has passed. */
  releaseLease(session: Session, dueAt: number): Promise<'released' | 'kept' | 'stale'>;
  loadWork(id: SessionId): Promise<SessionWork>;
  commitTurn(commit: TurnCommit): Promise<CommitResult>;
  /** For what happens outside a turn; numbered like everything else. Undefined when there is no such session. */
  append(id: SessionId, entries: readonly LogEntry[], at: number): Promise<readonly LogEvent[] | undefined>;
  /** Oldest first, after `since` (-1: all). */
  readEvents(
    id: SessionId,
    page: { readonly since: number; readonly eventsMax: number },
  ): Promise<{ readonly events: readonly LogEvent[]; readonly hasMore: boolean }>;
  history(id: SessionId): Promise<readonly HistoryMessage[]>;
  /** Ends it once; undefined when it had ended or does not exist. */
  end(id: SessionId, status: SessionStatus, at: number): Promise<Session | undefined>;
  /** Sessions whose moment has come, oldest first; each as it stood at the read. */
  due(now: number, itemsMax: number): Promise<readonly Session[]>;
  /** Puts off a due session to its next moment, unless it moved since it was read. */
  postpone(session: Session, dueAt: number | undefined): Promise<boolean>;
}
