/**
 * A session: one conversation or one series of executions, its owner, its settings and its states.
 *
 * Statuses change only along `transitions`; an ended session stays ended.
 */
import type { Flavor, Template } from './flavor.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from './ids.ts';
import type { Namespacing } from './mcp/naming.ts';
import type { ProviderName, TokenUsage } from './model.ts';
import type { TreeLimits } from './tree-limits.ts';
import type { Grant } from './turn/grant.ts';

export type SessionKind = 'agent' | 'execution';

export const sessionStatuses = [
  'created',
  'running',
  'idle',
  'completed',
  'failed',
  'creating',
  'ready',
  'error',
  'stopped',
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/**
 * Which calls run without a human: `ask` none, `auto` all; between them `low` (reading), `medium` (reading,
 * editing, git) and `high` (all but a call that repeats itself).
 */
export type ApprovalMode = 'ask' | 'low' | 'medium' | 'high' | 'auto';

export const approvalModes = [
  'ask',
  'low',
  'medium',
  'high',
  'auto',
] as const satisfies readonly ApprovalMode[];

/** Who holds the right to work on the session's turn; `fence` grows with every new holder. */
export type Lease = { readonly holder: string; readonly fence: number; readonly until: number };

/** Where a child stands: the session at the top of its tree, and the one whose agent started it. */
export type SessionTree = { readonly root: SessionId; readonly parent: SessionId };

export type Session = {
  readonly id: SessionId;
  readonly owner: OwnerId;
  readonly project: ProjectId;
  readonly workspace: WorkspaceId;
  readonly kind: SessionKind;
  /** By the first words said in it (`titleOf`); absent until then. */
  readonly title?: string;
  readonly status: SessionStatus;
  readonly flavor: Flavor;
  readonly template: Template;
  readonly provider: ProviderName;
  readonly model: string;
  readonly approvals: ApprovalMode;
  /** The grants of the session; a turn that runs has its own. */
  readonly grants: readonly Grant[];
  /** What its project said of money, depth and agents when it was made; what that leaves open is the operator's. */
  readonly limits?: TreeLimits;
  /** Tools its agent is not offered. */
  readonly disabledTools?: readonly string[];
  /** The only tools its agent is offered; absent: all. */
  readonly allowedTools?: readonly string[];
  /** How tools of MCP servers are named in it; absent: `auto`. */
  readonly mcpNamespacing?: Namespacing;
  readonly usage: TokenUsage;
  /** What its model calls cost, by the price table. */
  readonly costUsd: number;
  /** 0 for a session that somebody outside made. */
  readonly depth: number;
  /** Absent: nobody's child. */
  readonly tree?: SessionTree;
  /** Made by a connection that named none: unless something is said in it, it goes soon after the last one closed. */
  readonly isFleeting?: true;
  /** Its agent has started others. */
  readonly hasChildren?: true;
  /** True when a sandbox of the next smaller flavor will do when there is no capacity for its own. */
  readonly allowSmallerFlavor: boolean;
  /** Epoch milliseconds, as every time here. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  /** Calls of an execution session that run: each with the moment after which it cannot be running any more. */
  readonly runningCalls: Readonly<Record<string, number>>;
  /** When the janitor looks at it; absent: never. */
  readonly dueAt?: number;
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
  creating: ['ready', 'running', 'error', 'stopped'],
  ready: ['running', 'error', 'stopped'],
  error: ['stopped'],
  stopped: [],
};

export const canBecome = (from: SessionStatus, to: SessionStatus): boolean =>
  from === to || transitions[from].includes(to);

export const isEnded = (status: SessionStatus): boolean => transitions[status].length === 0;

/** The status a stop gives: an agent session completes, an execution session is stopped. */
export const endedStatus = (kind: SessionKind): SessionStatus => (kind === 'agent' ? 'completed' : 'stopped');

/** Whether it holds a slot among those its owner or project may have at once: a child is bounded by its tree. */
export const holdsSlot = ({ kind, status, tree }: Pick<Session, 'kind' | 'status' | 'tree'>): boolean =>
  kind === 'agent'
    ? tree === undefined && (status === 'running' || status === 'idle')
    : executionHoldsSlot.includes(status);

/** Whether a message to its workspace is for it: a child answers its parent alone. */
export const answersInWorkspace = ({ kind, tree }: Pick<Session, 'kind' | 'tree'>): boolean =>
  kind === 'agent' && tree === undefined;

/** The session whose tree it belongs to; undefined for one that stands alone. */
export const treeOf = ({ id, tree, hasChildren }: Pick<Session, 'id' | 'tree' | 'hasChildren'>) =>
  tree?.root ?? (hasChildren ? id : undefined);

const executionHoldsSlot: readonly SessionStatus[] = ['creating', 'ready', 'running'];

/** True when its agent is offered a tool of that name. */
export const isOffered = (
  { disabledTools = [], allowedTools }: Pick<Session, 'disabledTools' | 'allowedTools'>,
  tool: string,
): boolean => !disabledTools.includes(tool) && (allowedTools === undefined || allowedTools.includes(tool));

export const unheldLease: Lease = { holder: '', fence: 0, until: 0 };
