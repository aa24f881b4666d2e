/** Workspaces and their sandboxes, with every write and whenever something begins inside: L1, L2, L5, L7, L11. */

import type { Checkpoint } from '#shared/domain/checkpoint.ts';
import type { LogEvent } from '#shared/domain/event-log.ts';
import { isFirstGeneration } from '#shared/domain/generation.ts';
import { takenReasons } from '#shared/domain/idle-sandbox.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { checkpointsOf } from '#shared/domain/kept-checkpoints.ts';
import { idleCheckUsersMax } from '#shared/domain/limits.ts';
import { objectsOf } from '#shared/domain/pack-names.ts';
import { decodeTaskGroup, type LiveSandbox, type SandboxRecord } from '#shared/domain/sandbox.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import { detachedCalls, isWaitingAlone, pendingWork } from '#shared/domain/turn/pending-work.ts';
import type { CheckerOptions } from './checker-options.ts';
import { takenAs } from './coverage.ts';
import { ownEnds, type Task } from './ecs.ts';
import { triedBy } from './machine.ts';
import type { Change } from './memory-table.ts';
import {
  callsOf,
  idsOf,
  inboxOf,
  isAtRest,
  type StoredWorkspace,
  sessionOf,
  snapshotsIn,
  turnOf,
  workspaceOf,
} from './stored.ts';
import type { TurnChecker } from './turn-checker.ts';

const ranks = { starting: 0, ready: 1, stopping: 2, stopped: 3 } as const;
/** Of `sweep-orphans.ts`. */
const orphanReason = 'no_corresponding_session_mapping';
const reasonsToTake = ['idle', 'slot'] as const;
/** Two clocks may differ by this much. */
const skewMs = 4000;

type Completion = Extract<LogEvent, { type: 'completion' }>['data'];

/** Also where another session started it. */
const followsLoss = (sandbox: SandboxRecord | undefined): boolean =>
  sandbox?.state === 'ready' && sandbox.lost !== undefined;

/** By itself, before anybody asked for its stop. */
const hasDied = ({ status, stoppedReason = '' }: Task): boolean =>
  status === 'STOPPED' && ownEnds.includes(stoppedReason);

type UnsavedLine = {
  readonly key: string;
  readonly sandbox: SandboxRecord | undefined;
  readonly saysLost: boolean;
  /** The log of the turn says that a save failed, or that its sandbox stopped. */
  readonly told: boolean;
};

/** A call of an ended session has been given up. */
const callsUnderWay = (session: Session | undefined): readonly number[] =>
  session === undefined || isEnded(session.status) ? [] : Object.values(session.runningCalls);

export class SandboxChecker {
  readonly #options: CheckerOptions;
  readonly #turns: TurnChecker;
  /** When the check of a workspace's many sessions began. */
  readonly #checkedAt = new Map<string, number>();
  /** The last generation of each workspace, also of those that were deleted. */
  readonly #last = new Map<string, number>();
  /** Lines that a checkpoint had until a person restored a snapshot without them: replaced, not lost. */
  readonly #replaced = new Set<string>();

  constructor(options: CheckerOptions, turns: TurnChecker) {
    this.#options = options;
    this.#turns = turns;
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }

  #taskOf(taskArn: string | undefined) {
    return this.#options.ecs().tasks.find((task) => task.taskArn === taskArn);
  }

  workspace(id: string, { before, after }: Change): void {
    const [old, now] = [(before ?? {}) as StoredWorkspace, (after ?? {}) as StoredWorkspace];
    if (after === undefined) return;
    this.#generation(id, old.sandbox, now.sandbox);
    this.#count(old, now);
    if (old.sandbox?.state === 'starting' && now.sandbox?.state === 'ready') this.#holds(id, now);
    if (old.checkpoint?.id === now.checkpoint?.id) return;
    // A fork begins with the checkpoint of another workspace.
    if (before === undefined) return;
    if (now.checkpoint?.generation !== (now.sandbox?.generation ?? 0))
      this.#violate('a checkpoint is of the generation that lives', `${id}: ${now.checkpoint?.generation}`);
    const manifest = this.#options.bucket.get(now.checkpoint?.id ?? '');
    if (manifest === undefined) this.#violate('a checkpoint in the table is in the bucket', id);
    else if (manifest.base !== old.checkpoint?.id)
      this.#violate('a chain of checkpoints never forks', `${id}: ${manifest.id} follows ${manifest.base}`);
    if (now.sandbox?.isDiscarded) this.#restored(old.checkpoint?.id, manifest?.lines ?? []);
  }

  #restored(before: string | undefined, lines: readonly string[]): void {
    for (const line of this.#options.bucket.get(before ?? '')?.lines ?? [])
      if (!lines.includes(line)) this.#replaced.add(line);
  }

  #count({ sandbox: old }: StoredWorkspace, { sandbox: now, users = new Set() }: StoredWorkspace): void {
    const { sim, table } = this.#options;
    if (old?.state !== now?.state) sim.coverage.hit(`sandbox/${old?.state ?? 'none'}→${now?.state}`);
    if (old?.state !== 'ready' || now?.state !== 'stopping') return;
    if ([...users].some((user) => isWaitingAlone(turnOf(table, user))))
      sim.coverage.hit('sandbox/stopped while a person is awaited');
  }

  #generation(id: string, old: SandboxRecord | undefined, now: SandboxRecord | undefined): void {
    if (now === undefined) return;
    if (old === undefined || now.generation !== old.generation) {
      const isNext = old === undefined ? this.#isAboveLast(id, now) : now.generation === old.generation + 1;
      this.#last.set(id, now.generation);
      if (!isNext || now.state !== 'starting' || (old !== undefined && old.state !== 'stopped'))
        this.#violate('L1: one sandbox of a workspace lives', `${id}: ${old?.generation} ${old?.state}`);
      return;
    }
    this.#steps(id, old, now);
  }

  /** Above all that a deleted workspace of that id had. */
  #isAboveLast(id: string, { generation }: SandboxRecord): boolean {
    return isFirstGeneration(generation) && generation > (this.#last.get(id) ?? 0);
  }

  #steps(id: string, old: SandboxRecord, now: SandboxRecord): void {
    if (now.requestedAt !== old.requestedAt) this.#violate('L1: a generation begins once', id);
    // A start that is given up ends its generation at once: what may run all the same is an orphan (L8).
    const isOver = old.state === 'stopping' && now.state === 'stopped' && old.readyAt !== undefined;
    const task = this.#taskOf(old.taskArn);
    if (isOver && task !== undefined && task.status !== 'STOPPED')
      this.#violate('L7: a sandbox is stopped when ECS says so', `${id}: ${task.taskArn} is ${task.status}`);
    if (ranks[now.state] < ranks[old.state])
      this.#violate('a sandbox goes from state to state', `${id}: ${old.state} → ${now.state}`);
    if (old.taskArn !== undefined && now.taskArn !== old.taskArn)
      this.#violate('L1: a generation is one task', `${id}: ${old.taskArn} → ${now.taskArn}`);
    if (now.idleCheck !== undefined && now.idleCheck !== old.idleCheck)
      this.#checkedAt.set(id, this.#options.sim.now());
    if (old.state === 'ready' && now.state === 'stopping') this.#taken(id, now);
  }

  /** A ready sandbox has the files of its workspace's checkpoint. */
  #holds(id: string, { sandbox, checkpoint }: StoredWorkspace): void {
    const machine = this.#taskOf(sandbox?.taskArn)?.machine;
    const kept = this.#options.bucket.get(checkpoint?.id ?? '')?.lines ?? [];
    const missing = kept.filter((line) => !machine?.lines.includes(line));
    if (machine?.isUp && missing.length > 0)
      this.#violate('a ready sandbox holds what its checkpoint says', `${id}: ${missing.join()}`);
  }

  /** L12. */
  claimed(entry: string, { sk, before }: Change): void {
    if (before !== undefined) this.#violate('L12: a warm sandbox has one claimant', `${entry} ${sk}`);
  }

  /** ECS is asked to stop a task. */
  stops(taskArn: string, reason: string): void {
    if (reason !== orphanReason) return;
    const { table } = this.#options;
    for (const id of idsOf(table, 'WORKSPACE#')) {
      const { sandbox } = workspaceOf(table, id);
      const isLive = sandbox?.state === 'starting' || sandbox?.state === 'ready';
      if (isLive && sandbox?.taskArn === taskArn)
        this.#violate('L8: no task is stopped as an orphan while a record has it', `${taskArn} of ${id}`);
    }
  }

  /** L5. Of more sessions than one transaction checks, one that becomes active during the check may lose it before its use. */
  #taken(id: string, { stoppedReason = '', taskArn, generation }: SandboxRecord): void {
    const why = reasonsToTake.find((reason) => takenReasons[reason] === stoppedReason);
    if (why === undefined) return;
    const { table, sim } = this.#options;
    sim.coverage.hit(`sandbox/${takenAs(why)}`);
    const { users = new Set<string>() } = workspaceOf(table, id);
    const checkedAt = users.size > idleCheckUsersMax ? this.#checkedAt.get(id) : undefined;
    for (const user of users) {
      if (checkedAt !== undefined && this.#begins(user, { generation, since: checkedAt })) continue;
      const calls = callsUnderWay(sessionOf(table, user));
      const state = turnOf(table, user);
      const detached = detachedCalls(state).map(({ wait }) => wait.endsBy);
      const isBusy = [...calls, ...detached].some((until) => until > sim.now() + skewMs);
      const hasMessages = inboxOf(table, user).length > 0;
      const runs = this.#taskOf(taskArn)?.machine.running ?? [];
      // A turn that waits for a person, a client or a child has nothing to do.
      if (isBusy || pendingWork(state).length > 0 || (hasMessages && isAtRest(state)))
        this.#violate(
          'L5: a busy sandbox is never taken for idle',
          `${id}: ${user} is ${state.kind}, ${runs.join()}`,
        );
    }
  }

  /** It became active since, and has not used the sandbox. */
  #begins(
    user: string,
    { generation, since }: { readonly generation: number; readonly since: number },
  ): boolean {
    const { table } = this.#options;
    const isInside = callsOf(turnOf(table, user)).some(
      (call) => call.status === 'executing' && call.generation === generation,
    );
    return !isInside && (sessionOf(table, user)?.lastActiveAt ?? 0) + skewMs >= since;
  }

  /** L11. */
  saved(id: string, { stopReason, workspace }: Completion): void {
    const lines = this.#turns.takeLines(id);
    if (stopReason === 'cancelled' || lines.keys.length === 0) return;
    const { table, bucket } = this.#options;
    const { sandbox, checkpoint } = workspaceOf(table, sessionOf(table, id)?.workspace ?? '');
    const kept = bucket.get(checkpoint?.id ?? '')?.lines ?? [];
    const saysLost = workspace?.lost === true;
    for (const key of lines.keys.filter((one) => !kept.includes(one) && !this.#replaced.has(one)))
      this.#unsaved(`${id}: ${key}`, { key, sandbox, saysLost, told: lines.told });
  }

  /** A line of an ended turn that no checkpoint has. */
  #unsaved(what: string, { key, sandbox, saysLost, told }: UnsavedLine): void {
    const own = this.#taskOf(this.#options.ledger.get(key)?.taskArn);
    const isThere = sandbox?.state === 'ready' && sandbox.taskArn === own?.taskArn;
    if (!isThere && followsLoss(sandbox) && !saysLost)
      this.#violate('L11: a completion says which files are lost', what);
    if (told) return;
    if (own !== undefined && hasDied(own) && !saysLost)
      this.#violate('L11: files of a sandbox that died are said to be lost', what);
    if (isThere && own?.status === 'RUNNING' && own.desired === 'RUNNING')
      this.#violate('L11: what was told as done is in a checkpoint', what);
  }

  /** A call begins in a sandbox. */
  begins(callKey: string, taskArn: string): void {
    const tried = triedBy(callKey);
    if (tried !== undefined) this.#tries(tried, taskArn);
    if (!callKey.startsWith('tool:')) return;
    if (this.#turns.isTried(callKey)) this.#violate('AP7: a call that was tried does not run again', callKey);
    const generation = this.#turns.started.get(callKey);
    if (generation === undefined) {
      this.#violate('a call is recorded as started before it runs', callKey);
      return;
    }
    if (this.#turns.rejected.has(callKey)) this.#violate('T11: a rejected call never runs', callKey);
    const name = decodeTaskGroup(this.#taskOf(taskArn)?.group ?? '');
    const claim = this.#options.table.get(`WORKSPACE#${name?.workspaceId}`, `CLAIM#${name?.generation}`);
    if ((claim?.['generation'] ?? name?.generation) !== generation)
      this.#violate('a call runs in the sandbox it was recorded for', `${callKey} in ${taskArn}`);
  }

  /** In the fork of the session that tries it, which is recorded before. */
  #tries({ session, key }: NonNullable<ReturnType<typeof triedBy>>, taskArn: string): void {
    const { table } = this.#options;
    const { sandbox } = workspaceOf(table, sessionOf(table, session)?.workspace ?? '');
    if (sandbox?.taskArn !== taskArn) this.#violate('AP7: a call is tried in a fork', key);
    if (!this.#turns.wasToTry(key, session)) this.#violate('AP7: a trial is recorded before it runs', key);
  }

  /** L2. */
  restores({ workspaceId, generation }: LiveSandbox): void {
    const { sandbox } = workspaceOf(this.#options.table, workspaceId);
    if (sandbox?.generation === generation && sandbox.state === 'ready')
      this.#violate('L2: a sandbox is restored before it is ready', `${workspaceId}: ${generation}`);
  }

  /** A janitor reads a sandbox to save it for the last time. */
  savesLast({ workspaceId, generation }: LiveSandbox): void {
    const { sandbox } = workspaceOf(this.#options.table, workspaceId);
    // A save of files that a restored snapshot replaced is recorded nowhere.
    if (sandbox?.generation !== generation || sandbox.isDiscarded) return;
    if (sandbox.taskStopRequestedAt !== undefined)
      this.#violate('nothing is saved once the stop is recorded', `${workspaceId}: ${generation}`);
  }

  /** An object is deleted from the bucket: no workspace and no snapshot needs it (SN1). */
  deleted(owner: WorkspaceId, object: string): void {
    const { table } = this.#options;
    const needs = (holder: WorkspaceId, checkpoint: Checkpoint | undefined): boolean =>
      checkpoint !== undefined && (objectsOf(holder, checkpoint).get(owner)?.includes(object) ?? false);
    for (const id of idsOf(table, 'WORKSPACE#')) {
      const workspace = workspaceOf(table, id);
      const isNeeded = checkpointsOf(workspace).some((checkpoint) => needs(id as WorkspaceId, checkpoint));
      if (workspace.deletedAt === undefined && isNeeded)
        this.#violate('SN1: an object that a workspace needs stays', `${id} needs ${object} of ${owner}`);
    }
    for (const { id, checkpoint } of snapshotsIn(table))
      if (needs(owner, checkpoint))
        this.#violate('SN1: an object that a snapshot needs stays', `${id} needs ${object} of ${owner}`);
  }
}
