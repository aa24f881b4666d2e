/**
 * A session: one conversation or one series of executions, its owner, its settings and its states.
 *
 * Statuses change only along `transitions`; of the ended sessions only those of agents can be resumed.
 */
import type { EffectPolicy } from './effect-rule.ts';
import type { StopReason } from './event-log.ts';
import type { Flavor } from './flavor.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from './ids.ts';
import type { Namespacing } from './mcp/server.ts';
import type { ProviderName, TokenUsage } from './model.ts';
import type { AgentRuntime } from './runtime-name.ts';
import type { Payers } from './sandbox-meter.ts';
import type { SessionDetails } from './session-details.ts';
import type { EnvironmentRef } from './session-environment.ts';
import type { SessionLimits, SessionTree } from './session-tree.ts';
import type { Slot } from './slot.ts';
import type { Template } from './template.ts';
import type { Grant } from './turn/grant.ts';

/**
 * The approval modes: the calls that run without a human. `ask` none, `auto` all; between them `low` (reading),
 * `medium` (reading, editing, git) and `high` (all but a call that repeats itself). `effect` asks as `ask` does, and tries
 * a call of the sandbox first.
 */
export const approvalModes = ['ask', 'effect', 'low', 'medium', 'high', 'auto'] as const;
export type ApprovalMode = (typeof approvalModes)[number];

export const sessionKinds = ['agent', 'execution'] as const;
export type SessionKind = (typeof sessionKinds)[number];

export const sessionStatuses = [
  'created',
  'running',
  'idle',
  'completed',
  'failed',
  'creating',
  'ready',
  'paused',
  'error',
  'stopped',
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** The right to work on the session's turn; `fence` grows with every new holder. */
type Lease = { readonly holder: string; readonly fence: number; readonly until: number };

/** Tries without a step of the turn: `version` is the turn's, `fence` the lease's at the first one. */
export type Stall = {
  readonly version: number;
  readonly fence: number;
  readonly tries: number;
  /** Epoch milliseconds of the first. */
  readonly since: number;
};

export type Session = SessionDetails & {
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
  /** Of its project or its agent when it was made. */
  readonly effects?: EffectPolicy;
  /** The program of its sandbox that carries its turns; absent: the platform's own loop. */
  readonly runtime?: AgentRuntime;
  /** The grants of the session; a running turn has its own. */
  readonly grants: readonly Grant[];
  /** Its own limit of money, and its project's limits when it was made; the operator's apply to the rest. */
  readonly limits?: SessionLimits;
  /** Tools its agent is not offered. */
  readonly disabledTools?: readonly string[];
  /** The only tools its agent is offered; absent: all. */
  readonly allowedTools?: readonly string[];
  /** The named agent of its project that it was made with. */
  readonly agent?: string;
  /** The naming of MCP servers' tools; absent: `auto`. */
  readonly mcpNamespacing?: Namespacing;
  readonly usage: TokenUsage;
  /** The cost of its model calls, by the price table. */
  readonly costUsd: number;
  /** Model calls that programs of its sandbox made, beside those of its turns. */
  readonly brokeredUsd?: number;
  readonly brokeredInputTokens?: number;
  readonly brokeredOutputTokens?: number;
  /** 0 for a session that a client made. */
  readonly depth: number;
  /** Absent: it is no child. */
  readonly tree?: SessionTree;
  /**
   * Made by a connection that named none: unless it receives a message, it is deleted soon after the last one
   * closed.
   */
  readonly isFleeting?: true;
  /** True when it has a tree: its agent has started others, a program of it called a model, or it was given a slice. */
  readonly hasChildren?: true;
  /** True for a root that was given a slice of its own. */
  readonly isSliced?: true;
  /** The variables of a sandbox that it starts. */
  readonly environment?: EnvironmentRef;
  /** The folder in which programs of a sandbox that it starts begin: relative to the workspace, or absolute. */
  readonly cwd?: string;
  /** Its slot when its turn moved it last: the turn's part is true, the sandbox's may have changed since. */
  readonly slot?: Slot;
  /** The session that tries a call in it: it is in no list, and is deleted once the call can no longer be decided. */
  readonly trialOf?: SessionId;
  /** The session under which a sandbox that it starts counts: its parent's, whose workspace it shares. */
  readonly slotOf?: SessionId;
  /** True when a sandbox of the next smaller flavor suffices when there is no capacity for its own. */
  readonly allowSmallerFlavor: boolean;
  /** Epoch milliseconds, as every time here. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  /** The end of its last turn; absent: no turn has ended yet. */
  readonly lastStopReason?: StopReason;
  /** True while only a person can move its turn. */
  readonly waits?: boolean;
  /** Running calls of an execution session, each with the time after which it cannot be running any more. */
  readonly runningCalls: Readonly<Record<string, number>>;
  /** Of an execution session, the generation of the sandbox in which its last call ran. */
  readonly calledIn?: number;
  /** The janitor's tries to have its turn continued; of another version than the turn's: it went on since. */
  readonly stall?: Stall;
  /** The time of the janitor's next check; absent: never. */
  readonly dueAt?: number;
  /** The number of the newest event; -1 before the first. */
  readonly lastSeq: number;
  /**
   * The number of events that gave the turn function something to do: releasing the lease proves that all were
   * seen.
   */
  readonly workSeq: number;
  readonly lease: Lease;
};

const transitions: Record<SessionStatus, readonly SessionStatus[]> = {
  created: ['running', 'completed', 'failed'],
  running: ['idle', 'ready', 'paused', 'completed', 'failed', 'error', 'stopped'],
  idle: ['running', 'completed', 'failed'],
  completed: ['idle'],
  failed: ['idle'],
  creating: ['ready', 'running', 'paused', 'error', 'stopped'],
  ready: ['running', 'paused', 'error', 'stopped'],
  paused: ['running', 'ready', 'error', 'stopped'],
  error: ['stopped'],
  stopped: [],
};

export const canBecome = (from: SessionStatus, to: SessionStatus): boolean =>
  from === to || transitions[from].includes(to);

export const endedStatuses: readonly SessionStatus[] = ['completed', 'failed', 'stopped'];

/** True when it takes no more messages or calls; an agent session may be resumed. */
export const isEnded = (status: SessionStatus): boolean => endedStatuses.includes(status);

/** The status a stop gives: an agent session completes, an execution session is stopped. */
export const endedStatus = (kind: SessionKind): SessionStatus => (kind === 'agent' ? 'completed' : 'stopped');

/** True when it counts among the conversations of its project: a child is bounded by its tree. */
export const isConversation = ({ kind, status, tree }: Pick<Session, 'kind' | 'status' | 'tree'>): boolean =>
  kind === 'agent' && tree === undefined && (status === 'running' || status === 'idle');

/** True when the loss of its sandbox makes it wait for its next call. */
export const isPausable = ({ kind, status }: Pick<Session, 'kind' | 'status'>): boolean =>
  kind === 'execution' && (status === 'creating' || status === 'ready' || status === 'running');

/** True when it answers messages to its workspace: a child answers its parent alone. */
export const answersInWorkspace = ({ kind, tree }: Pick<Session, 'kind' | 'tree'>): boolean =>
  kind === 'agent' && tree === undefined;

/** The root of its tree; undefined for a session without parent and children. */
export const treeOf = ({ id, tree, hasChildren }: Pick<Session, 'id' | 'tree' | 'hasChildren'>) =>
  tree?.root ?? (hasChildren ? id : undefined);

/** The root of its tree; of a session without parent and children the session itself. */
export const rootSessionOf = ({ id, tree }: Pick<Session, 'id' | 'tree'>): SessionId => tree?.root ?? id;

/** The slices that pay for it; absent: none. */
export const slicesOf = ({
  id,
  tree,
  isSliced,
}: Pick<Session, 'id' | 'tree' | 'isSliced'>): readonly SessionId[] | undefined =>
  tree?.slices ?? (isSliced ? [id] : undefined);

/** They pay for the sandboxes that it starts. */
export const payersOf = (
  session: Pick<Session, 'id' | 'tree' | 'hasChildren' | 'isSliced'>,
): Payers | undefined => {
  const [root, slices] = [treeOf(session), slicesOf(session)];
  return root === undefined || slices === undefined ? undefined : { root, slices };
};

/** True when its agent is offered a tool of that name. */
export const isOffered = (
  { disabledTools = [], allowedTools }: Pick<Session, 'disabledTools' | 'allowedTools'>,
  tool: string,
): boolean => !disabledTools.includes(tool) && (allowedTools === undefined || allowedTools.includes(tool));

export const unheldLease: Lease = { holder: '', fence: 0, until: 0 };

const titleCharactersMax = 80;

type Totalled = Pick<
  Session,
  'runtime' | 'usage' | 'costUsd' | 'brokeredUsd' | 'brokeredInputTokens' | 'brokeredOutputTokens'
>;

/**
 * The usage of all its model calls, and their cost by the price table. A program that carries its turns calls models through the broker:
 * what it reports itself is counted there already.
 */
export const totalsOf = ({
  runtime,
  usage,
  costUsd,
  brokeredUsd = 0,
  brokeredInputTokens: input = 0,
  brokeredOutputTokens: output = 0,
}: Totalled): { readonly usage: TokenUsage; readonly costUsd: number } => ({
  usage: {
    ...usage,
    inputTokens: runtime === undefined ? usage.inputTokens + input : Math.max(usage.inputTokens, input),
    outputTokens: runtime === undefined ? usage.outputTokens + output : Math.max(usage.outputTokens, output),
  },
  costUsd: costUsd + brokeredUsd,
});

/**
 * A session's title: the first words of its first message, from the first line that has any, without the marks around code.
 * Undefined: it has no visible character.
 */
export const titleOf = (text: string): string | undefined => {
  const words = text
    .replaceAll(/^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$/gm, '')
    .split(/[\r\n\u2028\u2029]/)
    .map((line) => line.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim())
    .find((line) => line !== '');
  if (words === undefined) return undefined;
  const characters = [...words];
  if (characters.length <= titleCharactersMax) return words;
  return `${characters
    .slice(0, titleCharactersMax - 1)
    .join('')
    .trimEnd()}…`;
};
