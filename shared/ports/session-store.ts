/**
 * Sessions as records: made with their workspace and slot, read, listed, ended once, deleted.
 *
 * Every method is one conditional write or one read; each says what it returns when it loses. Times are
 * epoch milliseconds. The conformance suites are tests/conformance/session-*.test.ts.
 */
import type { AuditRow } from '../domain/audit.ts';
import type { LogEntry, LogEvent } from '../domain/event-log.ts';
import type { OwnerId, ProjectId, SessionId } from '../domain/ids.ts';
import type { Workspace } from '../domain/sandbox.ts';
import type { Session, SessionStatus, Stall } from '../domain/session.ts';

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
      /** Rows of the audit log that are true exactly if it is made. */
      readonly audits?: readonly AuditRow[];
      /** A child, and the limit of agents in its tree; `orphan` when its parent has ended or moved on. */
      readonly child?: { readonly parent: Session; readonly agentsMax: number };
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
  /**
   * Sessions that are due, oldest first; each as it was at the read. One that cannot be decoded is left out, told to
   * `onUnreadable`, and put off.
   */
  due(now: number, itemsMax: number, onUnreadable?: (error: unknown) => void): Promise<readonly Session[]>;
  /**
   * Postpones a due session: true for exactly one of the callers that read the same version. `stall`: the try that its
   * caller makes now.
   */
  postpone(session: Session, dueAt: number, stall?: Stall): Promise<boolean>;
}
