/**
 * The turn of a session: its lease, all that it works on, and the one commit that moves it on.
 *
 * Every method is one conditional write or one read; each says what it returns when it loses. Times are
 * epoch milliseconds.
 */
import type { AuditRow } from '../domain/audit.ts';
import type { LastDecision } from '../domain/audit-seal.ts';
import type { Caller } from '../domain/caller-tool.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { LogEntry, LogEvent } from '../domain/event-log.ts';
import type { UsedFeatures } from '../domain/features.ts';
import type { HistoryMessage } from '../domain/history.ts';
import type { SessionId, WorkspaceId } from '../domain/ids.ts';
import type { AccessToken } from '../domain/principal.ts';
import type { Session } from '../domain/session.ts';
import type { Slot } from '../domain/slot.ts';
import type { Subscriber } from '../domain/subscriber.ts';
import type { TokenMeasure } from '../domain/token-measure.ts';
import type { TreeSpend } from '../domain/tree-budget.ts';
import type { TurnRecord, TurnState } from '../domain/turn/turn.ts';
import type { WaitingChange } from '../domain/turn/waiting-call.ts';
import type { Notice } from '../domain/webhook/notice.ts';
import type { CallOutputs } from './calls.ts';
import type { InboxMessage } from './inbox.ts';
import type { CheckpointBase } from './workspace-store.ts';

/**
 * All that a turn needs, read at once. Inbox and history are oldest first; a message stays in the inbox until it
 * is completed.
 */
export type SessionWork = {
  readonly turn: TurnRecord;
  readonly inbox: readonly InboxMessage[];
  readonly history: readonly HistoryMessage[];
  readonly callers: readonly Caller[];
  /** The text that its agent reads before every conversation. */
  readonly instructions?: string;
  readonly subscribers: readonly Subscriber[];
};

/** A checkpoint that the table does not name yet, and the one it follows. */
export type CheckpointNote = {
  readonly workspaceId: WorkspaceId;
  readonly checkpoint: Checkpoint;
  readonly base: CheckpointBase;
};

/** A move of the session's slot with its turn. */
export type TurnSlot = {
  readonly change: 'turn-began' | 'turn-rested';
  /** As the writer knows it: of its turn's part the session's record is the truth. */
  readonly known: Slot;
  /** For a turn that begins. */
  readonly slotsMax?: number;
};

export type TurnCommit = {
  /** As last read: supplies lastSeq, workSeq and the fence. The result has the details that its client changed since. */
  readonly session: Session;
  /** The lease the writer holds; absent for a decision made without one, which only the version guards. */
  readonly fence?: number | undefined;
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
  /** The number of items of each message that was in more than one. */
  readonly historyParts?: TurnRecord['historyParts'] | undefined;
  /** The newest decision of the session in the audit log, this commit's included. */
  readonly decided?: LastDecision;
  readonly measured?: TokenMeasure | undefined;
  readonly at: number;
  readonly log: readonly LogEntry[];
  readonly history: readonly HistoryMessage[];
  /** Recorded in the same write; a workspace that has another checkpoint by now refuses the whole commit. */
  readonly note?: CheckpointNote;
  /**
   * The cost for its tree of the call that this commit answers: recorded in the same write, in place of its
   * reservation.
   */
  readonly spends?: TreeSpend | undefined;
  /** The message this commit completes: it leaves the inbox, and its connection may have one more. */
  readonly completed?: InboxMessage | undefined;
  /** The message that begins the turn: refused as moved when it waits no longer. */
  readonly begins?: InboxMessage | undefined;
  readonly patch?: SessionPatch;
  /** The turn goes on or ends by its session's limit of money: refused as moved when that has changed. */
  readonly weighsMoney?: boolean | undefined;
  /** The slot that its turn takes or gives back with this step. */
  readonly slot?: TurnSlot | undefined;
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
  /**
   * The time of the janitor's next check of the session, once the lease is released. A writer without the lease that wakes nothing
   * brings the check forward, never back.
   */
  readonly dueAt: number;
  /** The same by the idle time that a person has chosen since the session was read. */
  readonly dueOf?: (now: Pick<Session, 'idleMs'>) => number;
};

export type SessionPatch = Partial<
  Pick<
    Session,
    | 'status'
    | 'usage'
    | 'costUsd'
    | 'grants'
    | 'lastActiveAt'
    | 'lastStopReason'
    | 'model'
    | 'title'
    | 'runningCalls'
    | 'waits'
  >
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
  /** Its turn needs a slot, and none is free: nothing was written. */
  | { readonly status: 'full' }
  /** As `committed`, but the lease is still held: new work arrived concurrently. */
  | {
      readonly status: 'kept';
      readonly session: Session;
      readonly turn: TurnRecord;
      readonly events: readonly LogEvent[];
    };

/** A conversation up to a message, its events with the times they had. */
export type Continued = {
  readonly history: readonly HistoryMessage[];
  readonly events: readonly LogEvent[];
  readonly note: LogEntry;
  readonly title?: string;
  readonly at: number;
};

export interface TurnStore extends CallOutputs {
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
  /** Many sessions with their turns at once; those that do not exist are left out. */
  getManyWithTurn(
    ids: readonly SessionId[],
  ): Promise<readonly { readonly session: Session; readonly turn: TurnRecord }[]>;
  loadWork(id: SessionId): Promise<SessionWork>;
  /** The version of the turn and its subscribers, which a holder polls while something runs. */
  readVersion(id: SessionId): Promise<{
    readonly version: number;
    readonly subscribers: readonly Subscriber[];
    /** Its holder is asked to cancel it. */
    readonly isCancelAsked?: true;
  }>;
  /** Asks the holder of the turn to cancel it, until its next version; false when it has another version already. */
  askToCancel(id: SessionId, version: number): Promise<boolean>;
  history(id: SessionId): Promise<readonly HistoryMessage[]>;
  /** The newest messages, newest first, in two reads, and one more for long ones; `isWhole` when there are no others. */
  newestHistory(
    id: SessionId,
    bounds: { readonly messagesMax: number; readonly charactersMax: number },
  ): Promise<{ readonly messages: readonly HistoryMessage[]; readonly isWhole: boolean }>;
  /**
   * Gives a session that was just made the conversation of another: its log is these entries, and then the note. Undefined when
   * it has a message or an end by now; what was written is unseen then.
   */
  continueFrom(session: Session, conversation: Continued): Promise<Session | undefined>;
  /** Records new work for its turn; false when it has ended or does not exist. */
  wake(id: SessionId, at: number): Promise<boolean>;
  /** Acquires a free, expired or own lease under the next fence. Undefined when another holder has it. */
  takeLease(
    id: SessionId,
    lease: { readonly holder: string; readonly at: number; readonly until: number },
  ): Promise<Session | undefined>;
  /** False when the fence has passed or the lease was released. */
  renewLease(session: Session, until: number): Promise<boolean>;
  /** Ends the lease as it was read, of a holder that is known to be dead, and makes the session due; false when it moved. */
  breakLease(session: Session, at: number): Promise<boolean>;
  /**
   * Releases without a change; `kept` when new work arrived concurrently or its idle time was changed, `stale` when the fence has
   * passed.
   */
  releaseLease(
    session: Session,
    left: {
      readonly dueAt: number;
      /** No message waits: a running session is idle from now on. */
      readonly isIdle: boolean;
      /** The turn has nothing to do since then, and gives back a slot that it still holds. */
      readonly restsAt?: number;
    },
  ): Promise<'released' | 'kept' | 'stale'>;
  commit(commit: TurnCommit): Promise<CommitResult>;
}
