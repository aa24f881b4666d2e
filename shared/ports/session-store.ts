/**
 * Sessions as records: made with their workspace and slot, read, listed, ended once, deleted.
 *
 * Every method is one conditional write or one read; each says what it returns when it loses. Times are
 * epoch milliseconds. The conformance suites are tests/conformance/session-*.test.ts.
 */
import type { AuditRow } from '../domain/audit.ts';
import type { LogEntry, LogEvent } from '../domain/event-log.ts';
import type { Lifetimes } from '../domain/idle-time.ts';
import type { OwnerId, ProjectId, SessionId } from '../domain/ids.ts';
import type { Workspace } from '../domain/sandbox.ts';
import type { Session, SessionStatus, Stall } from '../domain/session.ts';
import type { DetailsChange } from '../domain/session-details.ts';
import type { LimitsChange } from '../domain/session-tree.ts';
import type { FilesSource } from '../domain/snapshot.ts';
import type { SliceLimits } from '../domain/tree-slice.ts';

export interface SessionStore {
  /**
   * Creates the session, and its workspace when that is new: all or nothing. `exists` when the id is taken: the caller
   * reads its owner. `full` when the tree of a child has no room for it. `moved` when its workspace was concurrently made, deleted, or, where that matters, entered.
   */
  create(
    session: Session,
    request: {
      /** A new workspace, made with the session. */
      readonly workspace?: Workspace;
      /** The files that the new workspace begins with; `moved` when they have changed or are deleted. */
      readonly source?: FilesSource;
      /** An existing workspace. */
      readonly enters?: {
        /** Only while this is its latest agent session; `null`: while it has none. */
        readonly after?: SessionId | null;
      };
      /** Its sealed variables, stored beside it. */
      readonly sealed?: string;
      /** The text that its agent reads before every conversation, stored beside it. */
      readonly instructions?: string;
      /** A tree with this slice of its own. */
      readonly slice?: SliceLimits;
      /** Rows of the audit log that are true exactly if it is made. */
      readonly audits?: readonly AuditRow[];
      /**
       * A child, and the limit of agents in its tree; `orphan` when its parent has ended or moved on: to another lease, or, for a
       * child that is made without one, at all.
       */
      readonly child?: {
        readonly parent: Session;
        readonly agentsMax: number;
        readonly isUnleased?: true | undefined;
      };
    },
  ): Promise<'created' | 'exists' | 'full' | 'moved' | 'orphan'>;
  get(id: SessionId): Promise<Session | undefined>;
  /** All descendants of the root session of a tree, oldest first. */
  descendants(root: SessionId): Promise<readonly Session[]>;
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
  /**
   * Many at once; those that do not exist are left out. One that cannot be decoded is left out and told to `onUnreadable`; without
   * that, it is an error.
   */
  getMany(
    ids: readonly SessionId[],
    onUnreadable?: (error: unknown, id: SessionId) => void,
  ): Promise<readonly Session[]>;
  /**
   * Records a sign of life; brings its next look forward to the end of its idle time, as that is now. False for one that has ended or
   * does not exist: it has none.
   */
  touch(session: Session, active: { readonly at: number; readonly lifetimes: Lifetimes }): Promise<boolean>;
  /**
   * The session after the change; undefined when it does not exist. Concurrent changes of different details both hold. With `read`
   * only while those are as they were read (undefined: absent); undefined otherwise.
   */
  change(
    id: SessionId,
    change: DetailsChange & LimitsChange,
    read?: DetailsChange & LimitsChange,
  ): Promise<Session | undefined>;
  /** As `change`, with entries of the log in the same write; undefined also when another caller wrote to the session concurrently. */
  changeLogged(
    id: SessionId,
    change: DetailsChange & LimitsChange,
    logged: {
      readonly read: DetailsChange & LimitsChange;
      readonly entries: readonly LogEntry[];
      readonly at: number;
    },
  ): Promise<{ readonly session: Session; readonly events: readonly LogEvent[] } | undefined>;
  /**
   * Begins a call of an execution session: a `ready` or `paused` one becomes `running`. Undefined when it takes no more calls. It is due as
   * by `endCall`.
   */
  beginCall(
    id: SessionId,
    call: { readonly key: string; readonly at: number; readonly until: number; readonly idleMs: number },
  ): Promise<Session | undefined>;
  /** Its sandbox is ready: a `creating` session becomes `running`. */
  recordRunning(id: SessionId): Promise<void>;
  /** Its sandbox runs again, without a call: a `paused` session becomes `ready`. It is due as by `endCall`. */
  recordReady(id: SessionId, ready: { readonly at: number; readonly idleMs: number }): Promise<void>;
  /**
   * Ends the call; the session becomes `ready` when it was the last, `paused` when its sandbox never came. It is due after its own idle
   * time, as that is now, else after `idleMs`.
   */
  endCall(
    id: SessionId,
    call: {
      readonly key: string;
      readonly at: number;
      readonly idleMs: number;
      readonly isWithoutSandbox?: boolean;
      /** The generation of the sandbox in which it ran. */
      readonly calledIn?: number | undefined;
    },
  ): Promise<void>;
  /** An execution session waits for its next call, without a sandbox; false when it moved since it was read. */
  pause(session: Session, until: number): Promise<boolean>;
  /**
   * Reopens an ended agent session, without its grants, in its workspace. `moved` when it changed since it was read, `gone`
   * when its workspace does not exist any more, or it is being deleted itself, `full` when its project has as many conversations as it may have.
   */
  resume(
    session: Session,
    resuming: {
      readonly at: number;
      readonly dueAt: number;
      readonly conversationsMax: number;
      readonly log: readonly LogEntry[];
      readonly audits: readonly AuditRow[];
    },
  ): Promise<
    | { readonly status: 'resumed'; readonly session: Session; readonly events: readonly LogEvent[] }
    | { readonly status: 'moved' | 'gone' | 'full' }
  >;
  /** Ends it once, releases the slot of its turn and logs the end; undefined when it had ended or does not exist. */
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
  /** Removes one that never got a message or a sandbox; false when it got one concurrently. */
  removeUnused(session: Session): Promise<boolean>;
  /**
   * Deletes the remains of an ended session: log, history, record. A concurrent write is refused, or deleted with it, or
   * expires. False when it was reopened since it was read: then it stays as it is. A session whose id was derived is not made again
   * for a day after `at`.
   */
  forget(id: SessionId, at: number): Promise<boolean>;
  /**
   * Sessions that are due, oldest first; each as it was at the read. Of more than `itemsMax`, the oldest is among them, and
   * the others are near the oldest: the index is read by shards. One that cannot be decoded is left out, told to
   * `onUnreadable`, and put off.
   */
  due(now: number, itemsMax: number, onUnreadable?: (error: unknown) => void): Promise<readonly Session[]>;
  /**
   * Postpones a due session: true for exactly one of the callers that read the same version. `stall`: the try that its
   * caller makes now.
   */
  postpone(session: Session, dueAt: number, stall?: Stall): Promise<boolean>;
  /** Every session that can be decoded, page by page. */
  live(onUnreadable?: (error: unknown) => void): AsyncIterable<readonly Session[]>;
}
