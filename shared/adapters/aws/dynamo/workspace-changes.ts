/**
 * The conditional changes of a workspace and its sandbox, as data: a condition and the values to set. They are
 * used alone and inside transactions alike; every change of a sandbox names its generation.
 */
import type { Checkpoint } from '#shared/domain/checkpoint.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { sandboxLookMs } from '#shared/domain/limits.ts';
import { isPoolEntry } from '#shared/domain/pool.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { keys, namesIn } from './table.ts';
import { workspaceDue } from './workspace-items.ts';

export type Change = {
  readonly when?: string;
  readonly set: string;
  readonly values: Readonly<Record<string, unknown>>;
};

/** A change as an action of a transaction. */
export const workspaceUpdate = (TableName: string, id: WorkspaceId, { when, set, values }: Change) => ({
  Update: {
    TableName,
    Key: keys.workspace(id),
    ConditionExpression: `attribute_exists(pk) AND (${when ?? 'attribute_exists(pk)'})`,
    UpdateExpression: set,
    ExpressionAttributeNames: namesIn(`${when ?? ''} ${set}`),
    ExpressionAttributeValues: { ...values },
  },
});

type Stop = { readonly reason: string; readonly at: number };
type MarkedStop = Parameters<WorkspaceStore['markStopping']>[2];

const isGeneration = '#sandbox.generation = :generation';
const isUnused = 'attribute_not_exists(#sandbox.restoringUntil) OR #sandbox.restoringUntil <= :at';
const isStarting = `${isGeneration} AND #sandbox.#state = :starting`;
const startingValues = (generation: number) => ({ ':generation': generation, ':starting': 'starting' });

const isOver =
  'attribute_not_exists(#sandbox) OR (#sandbox.#state = :stopped AND #sandbox.generation = :previous)';

/**
 * The next generation begins, unless the one before it lives, another caller was faster (L1), or no session uses
 * it any more.
 */
export const canStart = (id: WorkspaceId, sandbox: SandboxRecord, dueAt: number) => ({
  when: isPoolEntry(id) ? isOver : `(${isOver}) AND attribute_exists(#users)`,
  set: 'SET #sandbox = :sandbox, duePk = :duePk, dueAt = :dueAt',
  values: {
    ':stopped': 'stopped',
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
  set: 'SET #sandbox.restoringUntil = :until',
  values: { ...startingValues(generation), ':at': at, ':until': until },
});

export const isReady = (id: WorkspaceId, generation: number, at: number): Change => ({
  when: isStarting,
  set: 'SET #sandbox.#state = :ready, #sandbox.readyAt = :at, duePk = :duePk, dueAt = :dueAt REMOVE #sandbox.restoringUntil',
  values: {
    ...startingValues(generation),
    ':ready': 'ready',
    ':at': at,
    ...workspaceDue(id, at + sandboxLookMs),
  },
});

/** The claim is released: another caller may restore. */
export const restoreGivenBack = (generation: number): Change => ({
  when: isStarting,
  set: 'REMOVE #sandbox.restoringUntil',
  values: startingValues(generation),
});

/** The first reason and the first time stay. */
export const stopping = (id: WorkspaceId, generation: number, { reason, at, dueAt, only }: MarkedStop) => ({
  when:
    only === 'starting'
      ? `${isStarting} AND (${isUnused})`
      : `${isGeneration} AND #sandbox.#state IN (:starting, :ready, :stopping)${only === 'unused' ? ' AND attribute_not_exists(#users)' : ''}`,
  set: 'SET #sandbox.#state = :stopping, #sandbox.stopRequestedAt = if_not_exists(#sandbox.stopRequestedAt, :at), #sandbox.stoppedReason = if_not_exists(#sandbox.stoppedReason, :reason), duePk = :duePk, dueAt = :dueAt',
  values: {
    ...startingValues(generation),
    ...(only === 'starting' ? {} : { ':ready': 'ready' }),
    ':stopping': 'stopping',
    ':at': at,
    ':reason': reason,
    ...workspaceDue(id, dueAt),
  },
});

const isStopping = `${isGeneration} AND #sandbox.#state = :stopping`;
const stoppingValues = (generation: number) => ({ ':generation': generation, ':stopping': 'stopping' });

/** Refused once ECS has accepted the stop: nothing can be saved any more. */
export const lastSaveClaimed = (
  generation: number,
  { at, until }: { readonly at: number; readonly until: number },
): Change => ({
  when: `${isStopping} AND attribute_not_exists(#sandbox.taskStopRequestedAt) AND (attribute_not_exists(#sandbox.savingUntil) OR #sandbox.savingUntil <= :at)`,
  set: 'SET #sandbox.savingUntil = :until',
  values: { ...stoppingValues(generation), ':at': at, ':until': until },
});

export const lastSaveGivenBack = (generation: number): Change => ({
  when: isStopping,
  set: 'REMOVE #sandbox.savingUntil',
  values: stoppingValues(generation),
});

export const stopAsked = (generation: number, at: number): Change => ({
  when: isStopping,
  set: 'SET #sandbox.taskStopRequestedAt = if_not_exists(#sandbox.taskStopRequestedAt, :at) REMOVE #sandbox.savingUntil',
  values: { ...stoppingValues(generation), ':at': at },
});

export const stopped = (generation: number, { reason, at }: Stop): Change => ({
  when: `${isGeneration} AND #sandbox.#state <> :stopped`,
  set: 'SET #sandbox.#state = :stopped, #sandbox.stoppedReason = if_not_exists(#sandbox.stoppedReason, :reason), #sandbox.stoppedAt = :at REMOVE duePk, dueAt, #sandbox.ports',
  values: { ':generation': generation, ':stopped': 'stopped', ':reason': reason, ':at': at },
});

export const checkpointed = (
  checkpoint: Checkpoint,
  base: { readonly id?: string | undefined; readonly logsSeen?: number | undefined },
): Change => ({
  when: `${isGeneration} AND ${base.id === undefined ? 'attribute_not_exists(#checkpoint)' : '#checkpoint.id = :base'}`,
  set: `SET #checkpoint = :checkpoint${base.logsSeen === undefined ? '' : ', #sandbox.logsSeen = :logsSeen'}`,
  values: {
    ':generation': checkpoint.generation,
    ':checkpoint': checkpoint,
    ...(base.id === undefined ? {} : { ':base': base.id }),
    ...(base.logsSeen === undefined ? {} : { ':logsSeen': base.logsSeen }),
  },
});

export const logsSeen = (generation: number, lines: number): Change => ({
  when: isGeneration,
  set: 'SET #sandbox.logsSeen = :logsSeen',
  values: { ':generation': generation, ':logsSeen': lines },
});

export const portLeased = (generation: number, port: number): Change => ({
  when: `${isGeneration} AND #sandbox.#state = :ready AND NOT contains(#sandbox.ports, :port)`,
  set: 'SET #sandbox.ports = list_append(if_not_exists(#sandbox.ports, :none), :ports)',
  values: { ':generation': generation, ':ready': 'ready', ':port': port, ':none': [], ':ports': [port] },
});

export const lookedAt = ({ id, sandbox }: Workspace, dueAt: number): Change => ({
  when: `${isGeneration} AND #sandbox.#state = :state AND #sandbox.#state <> :stopped`,
  set: 'SET duePk = :duePk, dueAt = :dueAt',
  values: {
    ':generation': sandbox?.generation ?? 0,
    ':state': sandbox?.state ?? '',
    ':stopped': 'stopped',
    ...workspaceDue(id, dueAt),
  },
});
