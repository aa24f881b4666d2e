/**
 * The conditional changes of a workspace and its sandbox, as data: a condition and the values to set. They are
 * used alone and inside transactions alike; every change of a sandbox names its generation.
 */
import type { Checkpoint } from '#shared/domain/checkpoint.ts';
import type { Network } from '#shared/domain/egress-policy.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { sandboxLookMs } from '#shared/domain/limits.ts';
import { isPoolEntry } from '#shared/domain/pool.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import type { CheckpointBase, WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { keys, namesDeclared } from './table.ts';
import { workspaceDue } from './workspace-items.ts';

export type Change = {
  readonly when?: string;
  readonly set: string;
  readonly values: Readonly<Record<string, unknown>>;
};

/** A change of the sandbox under the name of an attempt. */
export const underName = ({ set, values, ...change }: Change, attempt: string): Change => ({
  ...change,
  set: set.replace(/^SET /, 'SET #sandbox.attempt = :attempt, '),
  values: { ...values, ':attempt': attempt },
});

/** A change as an action of a transaction. */
export const workspaceUpdate = (TableName: string, id: WorkspaceId, { when, set, values }: Change) => ({
  Update: {
    TableName,
    Key: keys.workspace(id),
    ConditionExpression: `attribute_exists(pk) AND (${when ?? 'attribute_exists(pk)'})`,
    UpdateExpression: set,
    ...namesDeclared(`${when ?? ''} ${set}`),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: { ...values } }),
  },
});

/**
 * Nothing happened in a session since it was read. A step of its turn may leave its last activity as it was: a holder that stood
 * still past the end of its lease writes by the time that it had read before.
 */
export const sessionAsRead = (TableName: string, { id, workSeq, lease, lastActiveAt, lastSeq }: Session) => ({
  ConditionCheck: {
    TableName,
    Key: keys.session(id),
    ConditionExpression:
      'workSeq = :workSeq AND leaseFence = :fence AND lastActiveAt = :lastActiveAt AND lastSeq = :lastSeq',
    ExpressionAttributeValues: {
      ':workSeq': workSeq,
      ':fence': lease.fence,
      ':lastActiveAt': lastActiveAt,
      ':lastSeq': lastSeq,
    },
  },
});

type MarkedStop = Parameters<WorkspaceStore['markStopping']>[2];
type ConfirmedStop = Parameters<WorkspaceStore['markStopped']>[2];

export const isGeneration = '#sandbox.generation = :generation';
const isUnused = 'attribute_not_exists(#sandbox.restoringUntil) OR #sandbox.restoringUntil <= :at';
const isStarting = `${isGeneration} AND #sandbox.#state = :starting`;
const startingValues = (generation: number) => ({ ':generation': generation, ':starting': 'starting' });

/** A workspace that was deleted and made again under its id begins with another generation than the one that was read. */
const isFirst = (generation: number): string =>
  generation === 1
    ? '(attribute_not_exists(firstGeneration) OR firstGeneration = :generation)'
    : 'firstGeneration = :generation';

const isNext = (generation: number): string =>
  `(attribute_not_exists(#sandbox) AND ${isFirst(generation)}) OR (#sandbox.#state = :stopped AND #sandbox.generation = :previous)`;

/**
 * The next generation begins, unless the one before it lives, another caller was faster (L1), no session uses
 * it any more, or it is the next of a workspace that was deleted under this id.
 */
export const canStart = (id: WorkspaceId, sandbox: SandboxRecord, dueAt: number) => ({
  when: isPoolEntry(id)
    ? isNext(sandbox.generation)
    : `(${isNext(sandbox.generation)}) AND attribute_exists(#users)`,
  set: 'SET #sandbox = :sandbox, duePk = :duePk, dueAt = :dueAt',
  values: {
    ':stopped': 'stopped',
    ':generation': sandbox.generation,
    ':previous': sandbox.generation - 1,
    ':sandbox': sandbox,
    ...workspaceDue(id, dueAt),
  },
});

/** A generation is one task: a second one under its name is an orphan. */
const isItsTask = '(attribute_not_exists(#sandbox.taskArn) OR #sandbox.taskArn = :taskArn)';

export const taskNoted = (generation: number, taskArn: string): Change => ({
  when: `${isGeneration} AND #sandbox.#state <> :stopped AND ${isItsTask}`,
  set: 'SET #sandbox.taskArn = :taskArn',
  values: { ':generation': generation, ':stopped': 'stopped', ':taskArn': taskArn },
});

export const addressNoted = (
  generation: number,
  { taskArn, address }: { readonly taskArn: string; readonly address: string },
): Change => ({
  when: `${isStarting} AND ${isItsTask}`,
  set: 'SET #sandbox.taskArn = :taskArn, #sandbox.address = :address',
  values: { ...startingValues(generation), ':taskArn': taskArn, ':address': address },
});

export const restoreClaimed = (
  generation: number,
  { at, until }: { readonly at: number; readonly until: number },
): Change => ({
  when: `${isStarting} AND (${isUnused})`,
  set: 'SET #sandbox.restoringUntil = :until, #sandbox.restores = if_not_exists(#sandbox.restores, :zero) + :one',
  values: { ...startingValues(generation), ':at': at, ':until': until, ':zero': 0, ':one': 1 },
});

const isLastClaim = '#sandbox.restores = :claim';

/** A restore under an earlier claim makes nothing ready: a later one may still overwrite what is written from then on. */
export const isReady = (
  id: WorkspaceId,
  generation: number,
  { at, claim, lookMs, losses }: Parameters<WorkspaceStore['markReady']>[2],
): Change => ({
  when:
    claim === undefined
      ? `${isStarting} AND attribute_not_exists(#sandbox.restores)`
      : `${isStarting} AND ${isLastClaim}`,
  // Due at the end of its lifetime, which may be far off, or for a look.
  set: `SET #sandbox.#state = :ready, #sandbox.readyAt = :at, duePk = :duePk, dueAt = :at + ${lookMs === undefined ? 'if_not_exists(#sandbox.lifetimeMs, :look)' : ':look'}${losses === undefined ? '' : ', losses = :losses, unaware = if_not_exists(#users, :none)'} REMOVE #sandbox.restoringUntil`,
  values: {
    ...startingValues(generation),
    ...(claim === undefined ? {} : { ':claim': claim }),
    ':ready': 'ready',
    ':at': at,
    ':look': lookMs ?? sandboxLookMs,
    ...(losses === undefined ? {} : { ':losses': losses, ':none': [] }),
    ':duePk': workspaceDue(id, at)[':duePk'],
  },
});

/** The losses of a later start stay untold. */
export const informed = (session: SessionId, generation: number): Change => ({
  when: 'losses.generation = :generation AND contains(unaware, :session)',
  set: 'DELETE unaware :sessions',
  values: { ':generation': generation, ':session': session, ':sessions': new Set([session]) },
});

/** The claim holds on; one that was released does not come back. */
export const restoreRenewed = (
  generation: number,
  { claim, until }: { readonly claim: number; readonly until: number },
): Change => ({
  when: `${isStarting} AND ${isLastClaim} AND attribute_exists(#sandbox.restoringUntil)`,
  set: 'SET #sandbox.restoringUntil = :until',
  values: { ...startingValues(generation), ':claim': claim, ':until': until },
});

/** The claim is released: another caller may restore. */
export const restoreGivenBack = (generation: number, claim: number): Change => ({
  when: `${isStarting} AND ${isLastClaim}`,
  set: 'REMOVE #sandbox.restoringUntil',
  values: { ...startingValues(generation), ':claim': claim },
});

/** The first reason and the first time stay. */
export const stopping = (id: WorkspaceId, generation: number, { reason, at, dueAt, only }: MarkedStop) => ({
  when:
    only === 'starting'
      ? `${isStarting} AND (${isUnused})`
      : `${isGeneration} AND #sandbox.#state IN (:starting, :ready, :stopping)${
          only === 'unused' ? ' AND attribute_not_exists(#users)' : ''
        }${typeof only === 'object' ? ' AND #sandbox.lifetimeMs = :lifetimeMs' : ''}`,
  set: 'SET #sandbox.#state = :stopping, #sandbox.stopRequestedAt = if_not_exists(#sandbox.stopRequestedAt, :at), #sandbox.stoppedReason = if_not_exists(#sandbox.stoppedReason, :reason), duePk = :duePk, dueAt = :dueAt',
  values: {
    ...startingValues(generation),
    ...(only === 'starting' ? {} : { ':ready': 'ready' }),
    ...(typeof only === 'object' ? { ':lifetimeMs': only.lifetimeMs } : {}),
    ':stopping': 'stopping',
    ':at': at,
    ':reason': reason,
    ...workspaceDue(id, dueAt),
  },
});

const isReadyNow = `${isGeneration} AND #sandbox.#state = :ready`;

export const idleChecked = (generation: number, check: string): Change => ({
  when: isReadyNow,
  set: 'SET #sandbox.idleCheck = :check',
  values: { ':generation': generation, ':ready': 'ready', ':check': check },
});

export const idleCheckEnded = (generation: number): Change => ({
  when: isReadyNow,
  set: 'REMOVE #sandbox.idleCheck',
  values: { ':generation': generation, ':ready': 'ready' },
});

export const stopped = (
  id: WorkspaceId,
  generation: number,
  { reason, at, tellAt, only }: ConfirmedStop,
): Change => {
  const set =
    'SET #sandbox.#state = :stopped, #sandbox.stoppedReason = if_not_exists(#sandbox.stoppedReason, :reason), #sandbox.stoppedAt = :at';
  const values = { ':generation': generation, ':stopped': 'stopped', ':reason': reason, ':at': at };
  const isUnplaced = only === undefined ? '' : ' AND attribute_not_exists(#sandbox.taskArn)';
  const when = `${isGeneration} AND #sandbox.#state <> :stopped${isUnplaced}`;
  if (tellAt === undefined) return { when, set: `${set} REMOVE duePk, dueAt, #sandbox.ports`, values };
  return {
    when,
    set: `${set}, #sandbox.untold = if_not_exists(#users, :none), duePk = :duePk, dueAt = :dueAt REMOVE #sandbox.ports`,
    values: { ...values, ':none': [], ...workspaceDue(id, tellAt) },
  };
};

export const told = (generation: number): Change => ({
  when: `${isGeneration} AND #sandbox.#state = :stopped`,
  set: 'REMOVE #sandbox.untold, duePk, dueAt',
  values: { ':generation': generation, ':stopped': 'stopped' },
});

export const checkpointed = (checkpoint: Checkpoint, base: CheckpointBase): Change => ({
  when: `${isGeneration} AND attribute_not_exists(#sandbox.isDiscarded) AND ${base.id === undefined ? 'attribute_not_exists(#checkpoint)' : '#checkpoint.id = :base'}`,
  set: `SET #checkpoint = :checkpoint${base.kept === undefined ? '' : ', #kept = :kept'}${base.logsSeen === undefined ? '' : ', #sandbox.logsSeen = :logsSeen'}`,
  values: {
    ':generation': checkpoint.generation,
    ':checkpoint': checkpoint,
    ...(base.id === undefined ? {} : { ':base': base.id }),
    ...(base.kept === undefined ? {} : { ':kept': base.kept }),
    ...(base.logsSeen === undefined ? {} : { ':logsSeen': base.logsSeen }),
  },
});

export const logsSeen = (generation: number, lines: number): Change => ({
  when: isGeneration,
  set: 'SET #sandbox.logsSeen = :logsSeen',
  values: { ':generation': generation, ':logsSeen': lines },
});

export const processesNoted = (generation: number): Change => ({
  when: `${isGeneration} AND #sandbox.#state = :ready`,
  set: 'SET #sandbox.hasProcesses = :true',
  values: { ':generation': generation, ':ready': 'ready', ':true': true },
});

export const portLeased = (generation: number, port: number): Change => ({
  when: `${isGeneration} AND #sandbox.#state = :ready AND NOT contains(#sandbox.ports, :port)`,
  set: 'SET #sandbox.ports = list_append(if_not_exists(#sandbox.ports, :none), :ports)',
  values: { ':generation': generation, ':ready': 'ready', ':port': port, ':none': [], ':ports': [port] },
});

/** Its lifetime, counted from its readiness; due then, or for a look. */
export const networkSet = (generation: number, network: Network | undefined): Change => ({
  when: `${isGeneration} AND #sandbox.#state IN (:starting, :ready)`,
  set: network === undefined ? 'REMOVE #sandbox.#network' : 'SET #sandbox.#network = :network',
  values: {
    ...startingValues(generation),
    ':ready': 'ready',
    ...(network === undefined ? {} : { ':network': network }),
  },
});

export const lifetimeSet = (
  id: WorkspaceId,
  generation: number,
  { lifetimeMs, dueAt }: { readonly lifetimeMs: number | undefined; readonly dueAt: number },
): Change => ({
  when: `${isGeneration} AND #sandbox.#state IN (:starting, :ready)`,
  set: `SET duePk = :duePk, dueAt = :dueAt${lifetimeMs === undefined ? ' REMOVE #sandbox.lifetimeMs' : ', #sandbox.lifetimeMs = :lifetimeMs'}`,
  values: {
    ...startingValues(generation),
    ':ready': 'ready',
    ...(lifetimeMs === undefined ? {} : { ':lifetimeMs': lifetimeMs }),
    ...workspaceDue(id, dueAt),
  },
});

/** The next look was reckoned from its lifetime: one that was given since then has set its own. */
export const lookedAt = ({ id, sandbox }: Workspace, dueAt: number): Change => ({
  when: `${isGeneration} AND #sandbox.#state = :state AND #sandbox.#state <> :stopped AND ${
    sandbox?.lifetimeMs === undefined
      ? 'attribute_not_exists(#sandbox.lifetimeMs)'
      : '#sandbox.lifetimeMs = :lifetimeMs'
  }`,
  set: 'SET duePk = :duePk, dueAt = :dueAt',
  values: {
    ':generation': sandbox?.generation ?? 0,
    ':state': sandbox?.state ?? '',
    ':stopped': 'stopped',
    ...(sandbox?.lifetimeMs === undefined ? {} : { ':lifetimeMs': sandbox.lifetimeMs }),
    ...workspaceDue(id, dueAt),
  },
});
