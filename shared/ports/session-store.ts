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
import type { Workspace } from '../domain/sandbox.ts';
import type { Session, SessionStatus } from '../domain/session.ts';
import type { AccessToken } from '../domain/token.ts';
import type { TurnRecord, TurnState } from '../domain/turn/turn.ts';
import type { WaitingChange } from '../domain/turn/waiting.ts';
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

/** All a turn needs, read at once. Inbox and history are oldest first; a message stays in the inbox until it is completed. */
export type SessionWork = {
  readonly turn: TurnRecord;
  readonly inbox: readonly InboxMessage[];
  readonly history: readonly HistoryMessage[];
  readonly callers: readonly Caller[];
  readonly watchers: readonly ConnectionId[];
};

/** A checkpoint that is taken and not yet noted in the table, and the one it follows. */
export type CheckpointNote = {
  readonly workspaceId: WorkspaceId;
  readonly checkpoint: Checkpoint;
  readonly base: { readonly id?: string | undefined; readonly logsSeen?: number | undefined };
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
  /** The first history message that counts; what is before is deleted, if not all at once. */
  readonly historyFrom: number;
  /** The first that was still in the table when the turn was read. */
  readonly historyKept: number;
  /** In how many items the turn was read. */
  readonly parts?: number | undefined;
  readonly at: number;
  readonly log: readonly LogEntry[];
  readonly history: readonly HistoryMessage[];
  /** Noted in the same write; a workspace that has another checkpoint by now refuses the whole. */
  readonly note?: CheckpointNote;
  /** What the call that this commit answers did cost its tree: counted in the same write, in place of its reservation. */
  readonly spends?: { readonly root: SessionId; readonly usd: number } | undefined;
  /** The message this commit completes: it leaves the inbox, and its connection may have one more. */
  readonly completed?: InboxMessage | undefined;
  readonly patch?: SessionPatch;
  /** Lets go of the lease, unless work came that the writer has not seen. */
  readonly release: boolean;
  /** The change to the list of waiting calls. */
  readonly waiting?: WaitingChange | undefined;
  /** Rows of the audit log that are true exactly if this commit is. */
  readonly audits?: readonly AuditRow[];
  /** The notice for webhooks. */
  readonly notices?: readonly Notice[];
  /** Says that there is something to do now (a decided call). */
  readonly wakes: boolean;
  /** When the janitor looks at the session again, once the lease is let go. */
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
  /** Somebody else holds the lease, or the session has ended: nothing was written. */
  | { readonly status: 'stale' }
  /** Somebody moved the turn since it was read (a decision, a cancel): nothing was written; read again. */
  | { readonly status: 'moved' }
  /** The checkpoint does not follow the one that stands there: nothing was written. */
  | { readonly status: 'unsaved' }
  /** As `committed`, but the lease is still held: work came meanwhile. */
  | {
      readonly status: 'kept';
      readonly session: Session;
      readonly turn: TurnRecord;
      readonly events: readonly LogEvent[];
    };

/** `too-many`: the connection has that many open messages; `ended`: the session takes no more; `full`: no slot is left. */
/** `too-many`: of the connection. `crowded`: in the session. `full`: no slot for another active session. */
export type AcceptResult = 'accepted' | 'duplicate' | 'too-many' | 'crowded' | 'ended' | 'full';

export interface SessionStore {
  /**
   * The session, its workspace when that is new, and its slot when it holds one: all or nothing.
   * `exists` when the id is taken: by whom, the caller reads. `full` when no slot is left, for a child in its tree. `moved` when its
   * workspace was made, deleted, or, where that was asked, entered by somebody meanwhile.
   */
  create(
    session: Session,
    request: {
      /** Made with it. */
      readonly workspace?: Workspace;
      /** Uses one that is there. */
      readonly enters?: {
        /** Only while this is its latest agent session; `null`: while it has none. */
        readonly after?: SessionId | null;
      };
      readonly slotsMax: number;
      /** A child, and how many agents its tree may have; `orphan` when its parent has ended or moved on. */
      /** Rows of the audit log that are true exactly if it is made. */
      readonly audits?: readonly AuditRow[];
      readonly child?: { readonly parent: Session; readonly agentsMax: number };
    },
  ): Promise<'created' | 'exists' | 'full' | 'moved' | 'orphan'>;
  get(id: SessionId): Promise<Session | undefined>;
  /** The session and its turn; with them the token of that hash, and the features that the deployment uses: in one read. */
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
  /** All that were started under a session at the top of its tree, at any depth, oldest first. */
  descendants(root: SessionId): Promise<readonly Session[]>;
  /** There is something new for its turn to look at; false when it has ended or does not exist. */
  wake(id: SessionId, at: number): Promise<boolean>;
  /** Newest first. `after` is what the previous page gave as `next`. */
  list(
    owner: OwnerId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{
    readonly sessions: readonly Session[];
    readonly next?: string;
  }>;
  /** As `list`, of all who made one in the project. */
  listOfProject(
    project: ProjectId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{ readonly sessions: readonly Session[]; readonly next?: string }>;
  /** True when a message of that id was accepted within a day. */
  wasAccepted(id: SessionId, message: MessageId): Promise<boolean>;
  /** The first message of a session takes its slot. */
  accept(session: Session, message: InboxMessage, slotsMax: number): Promise<AcceptResult>;
  /** Many with their turns at once; those that do not exist are left out. */
  getManyWithTurn(
    ids: readonly SessionId[],
  ): Promise<readonly { readonly session: Session; readonly turn: TurnRecord }[]>;
  /** Many at once; those that do not exist are left out. */
  getMany(ids: readonly SessionId[]): Promise<readonly Session[]>;
  /** A sign of life; brings its next look forward to `dueAt` if that is sooner. */
  touch(session: Session, at: number, dueAt: number): Promise<void>;
  /** A call of an execution session begins: a `ready` one is `running` then. Undefined when it takes none any more. */
  beginCall(
    id: SessionId,
    call: { readonly key: string; readonly at: number; readonly until: number; readonly dueAt: number },
  ): Promise<Session | undefined>;
  /** Its sandbox is there: a `creating` session is `running`. */
  recordRunning(id: SessionId): Promise<void>;
  /** The call ended; the session is `ready` when it was the last. */
  endCall(
    id: SessionId,
    call: { readonly key: string; readonly at: number; readonly dueAt: number },
  ): Promise<void>;
  /** Free, expired or already the holder's: theirs, under the next fence. Undefined when somebody else holds it. */
  takeLease(
    id: SessionId,
    lease: { readonly holder: string; readonly at: number; readonly until: number },
  ): Promise<Session | undefined>;
  /** False when the fence has passed or it was let go. */
  renewLease(session: Session, until: number): Promise<boolean>;
  /** Lets go without a change; `kept` when work came meanwhile, `stale` when the fence has passed. */
  releaseLease(session: Session, dueAt: number): Promise<'released' | 'kept' | 'stale'>;
  loadWork(id: SessionId): Promise<SessionWork>;
  /** The version of the turn and who watches: what a holder asks now and then while something runs. */
  glance(id: SessionId): Promise<{ readonly version: number; readonly watchers: readonly ConnectionId[] }>;
  commitTurn(commit: TurnCommit): Promise<CommitResult>;
  /** For what happens outside a turn; numbered like everything else. Undefined when there is no such session. */
  append(id: SessionId, entries: readonly LogEntry[], at: number): Promise<readonly LogEvent[] | undefined>;
  /** Oldest first, after `since` (-1: all). */
  readEvents(
    id: SessionId,
    page: { readonly since: number; readonly eventsMax: number },
  ): Promise<{ readonly events: readonly LogEvent[]; readonly hasMore: boolean }>;
  history(id: SessionId): Promise<readonly HistoryMessage[]>;
  /** Ends it once, gives its slot back and says so in its log; undefined when it had ended or does not exist. */
  end(
    session: Session,
    ending: {
      readonly status: SessionStatus;
      readonly at: number;
      readonly dueAt: number;
      /** Leaves it alone when it showed a sign of life since it was read. */
      readonly unlessMoved?: boolean;
      readonly log?: readonly LogEntry[];
    },
  ): Promise<{ readonly session: Session; readonly events: readonly LogEvent[] } | undefined>;
  /** Removes one that never got a message; false when it got one meanwhile. */
  removeUnused(session: Session): Promise<boolean>;
  /** Deletes all that is left of an ended session: log, history, record. */
  forget(id: SessionId): Promise<void>;
  /** Sessions whose moment has come, oldest first; each as it stood at the read. */
  due(now: number, itemsMax: number): Promise<readonly Session[]>;
  /** Puts off a due session to its next moment: true for exactly one of those who read it as it stands. */
  postpone(session: Session, dueAt: number): Promise<boolean>;
}
