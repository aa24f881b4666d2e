/**
 * Sessions, their turns, logs, histories and inboxes: the platform's memory.
 *
 * Every method is one conditional write or one read; each says what it returns when it loses. Times are
 * epoch milliseconds. The conformance suite is tests/conformance/session-store.ts.
 */

import type { AuditRow } from '../domain/audit.ts';
import type { Caller } from '../domain/caller-tool.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { LogEntry, LogEvent } from '../domain/event-log.ts';
import type { UsedFeatures } from '../domain/features.ts';
import type { HistoryMessage } from '../domain/history.ts';
import type { ConnectionId, MessageId, OwnerId, ProjectId, SessionId, WorkspaceId } from '../domain/ids.ts';
import type { AccessToken } from '../domain/principal.ts';
import type { Workspace } from '../domain/sandbox.ts';
import type { Session, SessionStatus } from '../domain/session.ts';
import type { TurnRecord, TurnState } from '../domain/turn/turn.ts';
import type { WaitingChange } from '../domain/turn/waiting-call.ts';
import type { Notice } from '../domain/webhook/notice.ts';

/** A user's message that waits for its turn. */
export type InboxMessage = {
  readonly messageId: MessageId;
  readonly text: string;
  readonly acceptedAt: number;
  readonly model?: string;
  readonly connectionId?: ConnectionId;
  readonly correlationId: string;
};

/**
 * All that a turn needs, read at once. Inbox and history are oldest first; a message stays in the inbox until it
 * is completed.
 */
export type SessionWork = {
  readonly turn: TurnRecord;
  readonly inbox: readonly InboxMessage[];
  readonly history: readonly HistoryMessage[];
  readonly callers: readonly Caller[];
  readonly subscribers: readonly ConnectionId[];
};

/** A checkpoint that the table does not name yet, and the one it follows. */
export type CheckpointNote = {
  readonly workspaceId: WorkspaceId;
  readonly checkpoint: Checkpoint;
  readonly base: { readonly id?: string | undefined; readonly logsSeen?: number | undefined };
};

export type TurnCommit = {
  /** As last read: supplies lastSeq, workSeq and the fence. */
  readonly session: Session;
  /** The lease the writer holds; absent for a decision made without one, which only the version guards. */
  readonly fence?: number;
  /** The version that was read; the record is written as the next one. */
  readonly version: number;
  readonly state: TurnState;
  readonly historyNext: number;
  /** The first history message that counts; the ones before are deleted, if not all at once. */
  readonly historyFrom: number;
  /** The first that was still in the table when the turn was read. */
  readonly historyKept: number;
  /** The number of items in which the turn was read. */
  readonly parts?: number | undefined;
  readonly at: number;
  readonly log: readonly LogEntry[];
  readonly history: readonly HistoryMessage[];
  /** Recorded in the same write; a workspace that has another checkpoint by now refuses the whole commit. */
  readonly note?: CheckpointNote;
  /**
   * The cost for its tree of the call that this commit answers: recorded in the same write, in place of its
   * reservation.
   */
  readonly spends?: { readonly root: SessionId; readonly usd: number } | undefined;
  /** The message this commit completes: it leaves the inbox, and its connection may have one more. */
  readonly completed?: InboxMessage | undefined;
  readonly patch?: SessionPatch;
  /** Releases the lease, unless there is new work that the writer has not seen. */
  readonly release: boolean;
  /** The change to the list of waiting calls. */
  readonly waiting?: WaitingChange | undefined;
  /** Rows of the audit log that are true exactly if this commit is. */
  readonly audits?: readonly AuditRow[];
  /** The notice for webhooks. */
  readonly notices?: readonly Notice[];
  /** True when it gives the turn something to do now (a decided call). */
  readonly wakes: boolean;
  /** The time of the janitor's next check of the session, once the lease is released. */
  readonly dueAt: number;
};

export type SessionPatch = Partial<
  Pick<Session, 'status' | 'usage' | 'costUsd' | 'grants' | 'lastActiveAt' | 'model' | 'title'>
>;

export type CommitResult =
  | {
      readonly status: 'committed';
      readonly session: Session;
      readonly turn: TurnRecord;
      readonly events: readonly LogEvent[];
    }
  /** Another holder has the lease, or the session has ended: nothing was written. */
  | { readonly status: 'stale' }
  /** The turn has moved since it was read (a decision, a cancel): nothing was written; read again. */
  | { readonly status: 'moved' }
  /** The checkpoint does not follow the recorded one: nothing was written. */
  | { readonly status: 'unsaved' }
  /** As `committed`, but the lease is still held: new work arrived concurrently. */
  | {
      readonly status: 'kept';
      readonly session: Session;
      readonly turn: TurnRecord;
      readonly events: readonly LogEvent[];
    };

/**
 * `too-many`: the connection has that many open messages; `ended`: the session takes no more; `full`: no slot is
 * left.
 */
/** `too-many`: of the connection. `crowded`: in the session. `full`: no slot for another active session. */
export type AcceptResult = 'accepted' | 'duplicate' | 'too-many' | 'crowded' | 'ended' | 'full';

export interface SessionStore {
  /**
   * Creates the session, its workspace when that is new, and its slot when it needs one: all or nothing. `exists`
   * when the id is taken: the caller reads its owner. `full` when no slot is left, for a child in its tree.
   * `moved` when its workspace was concurrently made, deleted, or, where that matters, entered.
   */
  create(
    session: Session,
    request: {
      /** A new workspace, made with the session. */
      readonly workspace?: Workspace;
      /** An existing workspace. */
      readonly enters?: {
        /** Only while this is its latest agent session; `null`: while it has none. */
        readonly after?: SessionId | null;
      };
      readonly slotsMax: number;
      /** A child, and the limit of agents in its tree; `orphan` when its parent has ended or moved on. */
      /** Rows of the audit log that are true exactly if it is made. */
      readonly audits?: readonly AuditRow[];
      readonly child?: { readonly parent: Session; readonly agentsMax: number };
    },
  ): Promise<'created' | 'exists' | 'full' | 'moved' | 'orphan'>;
  get(id: SessionId): Promise<Session | undefined>;
  /**
   * The session and its turn; with them the token of that hash, and the features that the deployment uses: in one
   * read.
   */
  getWithTurn(
    id: SessionId,
    wanted?: { readonly tokenHash?: string | undefined; readonly withFeatures?: boolean },
  ): Promise<
    | {
        readonly session: Session;
        readonly turn: TurnRecord;
        readonly token?: AccessToken | undefined;
        readonly features?: UsedFeatures;
      }
    | undefined
  >;
  /** All descendants of the root session of a tree, oldest first. */
  descendants(root: SessionId): Promise<readonly Session[]>;
  /** Records new work for its turn; false when it has ended or does not exist. */
  wake(id: SessionId, at: number): Promise<boolean>;
  /** Newest first. `after` is the previous page's `next`. */
  list(
    owner: OwnerId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{
    readonly sessions: readonly Session[];
    readonly next?: string;
  }>;
  /** As `list`, for all owners of sessions in the project. */
  listOfProject(
    project: ProjectId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{ readonly sessions: readonly Session[]; readonly next?: string }>;
  /** True when a message of that id was accepted within a day. */
  wasAccepted(id: SessionId, message: MessageId): Promise<boolean>;
  /** The first message of a session acquires its slot. */
  accept(session: Session, message: InboxMessage, slotsMax: number): Promise<AcceptResult>;
  /** Many sessions with their turns at once; those that do not exist are left out. */
  getManyWithTurn(
    ids: readonly SessionId[],
  ): Promise<readonly { readonly session: Session; readonly turn: TurnRecord }[]>;
  /** Many at once; those that do not exist are left out. */
  getMany(ids: readonly SessionId[]): Promise<readonly Session[]>;
  /** Records a sign of life; brings its next check forward to `dueAt` if that is sooner. */
  touch(session: Session, at: number, dueAt: number): Promise<void>;
  /** Begins a call of an execution session: a `ready` one becomes `running`. Undefined when it takes no more calls. */
  beginCall(
    id: SessionId,
    call: { readonly key: string; readonly at: number; readonly until: number; readonly dueAt: number },
  ): Promise<Session | undefined>;
  /** Its sandbox is ready: a `creating` session becomes `running`. */
  recordRunning(id: SessionId): Promise<void>;
  /** Ends the call; the session becomes `ready` when it was the last. */
  endCall(
    id: SessionId,
    call: { readonly key: string; readonly at: number; readonly dueAt: number },
  ): Promise<void>;
  /** Acquires a free, expired or own lease under the next fence. Undefined when another holder has it. */
  takeLease(
    id: SessionId,
    lease: { readonly holder: string; readonly at: number; readonly until: number },
  ): Promise<Session | undefined>;
  /** False when the fence has passed or the lease was released. */
  renewLease(session: Session, until: number): Promise<boolean>;
  /** Releases without a change; `kept` when new work arrived concurrently, `stale` when the fence has passed. */
  releaseLease(session: Session, dueAt: number): Promise<'released' | 'kept' | 'stale'>;
  loadWork(id: SessionId): Promise<SessionWork>;
  /** The version of the turn and its subscribers, which a holder polls while something runs. */
  readVersion(
    id: SessionId,
  ): Promise<{ readonly version: number; readonly subscribers: readonly ConnectionId[] }>;
  commitTurn(commit: TurnCommit): Promise<CommitResult>;
  /** Appends entries from outside a turn, numbered like all others. Undefined when there is no such session. */
  append(id: SessionId, entries: readonly LogEntry[], at: number): Promise<readonly LogEvent[] | undefined>;
  /** Oldest first, after `since` (-1: all). */
  readEvents(
    id: SessionId,
    page: { readonly since: number; readonly eventsMax: number },
  ): Promise<{ readonly events: readonly LogEvent[]; readonly hasMore: boolean }>;
  history(id: SessionId): Promise<readonly HistoryMessage[]>;
  /** Ends it once, releases its slot and logs the end; undefined when it had ended or does not exist. */
  end(
    session: Session,
    ending: {
      readonly status: SessionStatus;
      readonly at: number;
      readonly dueAt: number;
      /** No effect when it showed a sign of life since it was read. */
      readonly unlessMoved?: boolean;
      readonly log?: readonly LogEntry[];
    },
  ): Promise<{ readonly session: Session; readonly events: readonly LogEvent[] } | undefined>;
  /** Removes one that never got a message; false when it got one concurrently. */
  removeUnused(session: Session): Promise<boolean>;
  /** Deletes the remains of an ended session: log, history, record. */
  forget(id: SessionId): Promise<void>;
  /** Sessions that are due, oldest first; each as it was at the read. */
  due(now: number, itemsMax: number): Promise<readonly Session[]>;
  /** Postpones a due session: true for exactly one of the callers that read the same version. */
  postpone(session: Session, dueAt: number): Promise<boolean>;
}
