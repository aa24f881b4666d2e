/**
 * A session: one conversation or one series of executions, its owner, its settings and its states.
 *
 * Statuses change only along `transitions`; an ended session stays ended.
 */
import type { Flavor, Template } from './flavor.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from './ids.ts';
import type { ProviderName, TokenUsage } from './model.ts';

export type SessionKind = 'agent' | 'execution';

export type SessionStatus =
  | 'created'
  | 'running'
  | 'idle'
  | 'completed'
  | 'failed'
  | 'creating'
  | 'ready'
  | 'error'
  | 'stopped';

/** `ask`: a human decides each call. `auto`: every call runs. */
export type ApprovalMode = 'ask' | 'auto';

/** Who holds the right to work on the session's turn; `fence` grows with every new holder. */
export type Lease = { readonly holder: string; readonly fence: number; readonly until: number };

export type Session = {
  readonly id: SessionId;
  readonly owner: OwnerId;
  readonly project: ProjectId;
  readonly workspace: WorkspaceId;
  readonly kind: SessionKind;
  readonly status: SessionStatus;
  readonly flavor: Flavor;
  readonly template: Template;
  readonly provider: ProviderName;
  readonly model: string;
  readonly approvals: ApprovalMode;
  /** Tools a human allowed for the rest of the session. */
  readonly rememberedTools: readonly string[];
  readonly usage: TokenUsage;
  readonly depth: number;
  /** Epoch milliseconds, as every time here. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  /** The number of the newest event; -1 before the first. */
  readonly lastSeq: number;
  /** Counts everything that gave the turn function something to do: who lets go of the lease proves it saw all of it. */
  readonly workSeq: number;
  readonly lease: Lease;
};

const transitions: Record<SessionStatus, readonly SessionStatus[]> = {
  created: ['running', 'completed', 'failed'],
  running: ['idle', 'ready', 'completed', 'failed', 'error', 'stopped'],
  idle: ['running', 'completed', 'failed'],
  completed: [],
  failed: [],
  creating: ['ready', 'error', 'stopped'],
  ready: ['running', 'error', 'stopped'],
  error: ['ready', 'stopped'],
  stopped: [],
};

export const canBecome = (from: SessionStatus, to: SessionStatus): boolean =>
  from === to || transitions[from].includes(to);

export const isEnded = (status: SessionStatus): boolean => transitions[status].length === 0;

/** The status a stop gives: an agent session completes, an execution session is stopped. */
export const endedStatus = (kind: SessionKind): SessionStatus => (kind === 'agent' ? 'completed' : 'stopped');

export const unheldLease: Lease = { holder: '', fence: 0, until: 0 };
