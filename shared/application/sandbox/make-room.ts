/**
 * Makes room for a sandbox or a turn when no slot is free. The sandbox of the same counter that has been idle longest is
 * marked, which frees its slot at once, and is then saved and stopped. A busy sandbox never gives way (L5). Neither does one
 * with processes, nor one whose turn has work that no function does at the moment.
 *
 * A session does not write for each of its processes, nor an agent's session for each call of a client. A sandbox that may have
 * one is therefore marked and asked again before it gives way. A caller that uses it from then on removes the mark. A caller
 * that was on its way has reached it by then.
 */

import { idleSince } from '../../domain/idle-sandbox.ts';
import { idleCheckUsersMax, underWayMs } from '../../domain/limits.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { SlotHolder } from '../../domain/slot-holder.ts';
import type { RoomDeps } from '../deps.ts';
import { compareSlots } from './compare-slots.ts';
import { isKeptByCalls, isKeptByProcesses } from './kept-by-processes.ts';
import { readUsers } from './read-users.ts';
import { type IdleSandbox, takeIdleSandbox } from './take-idle-sandbox.ts';
import { haveWork } from './turn-work.ts';

export type RoomRequest = {
  readonly holder: SlotHolder;
  /** An idle sandbox gives way, whatever the operator's setting. */
  readonly evictsIdle?: boolean | undefined;
};

type Candidate = IdleSandbox & { readonly since: number };

/** True when a slot became free, or turned out to be; false when all that hold one are busy. */
export const makeRoom = async (
  ports: RoomDeps,
  { holder, evictsIdle = false }: RoomRequest,
): Promise<boolean> => {
  const { now, before, isSettled } = await compareSlots(ports, holder);
  if (now.taken.length < before.taken.length || (isSettled && now.taken.length < now.counted)) return true;
  if (!evictsIdle && !ports.slotLimits.evictsIdle) return false;
  const idle = now.taken.flatMap(({ turn, sandbox }) =>
    turn === undefined && sandbox !== undefined ? [sandbox.workspace] : [],
  );
  for (const candidate of await candidates(ports, idle)) {
    const isKept = (await haveWork(ports, candidate.users)) || (await isUsedInside(ports, candidate));
    const unused = isKept ? undefined : await unusedBehindMark(ports, candidate);
    if (unused !== undefined && (await takeIdleSandbox(ports, unused, 'slot'))) return true;
  }
  return false;
};

const isOfAgent = ({ users }: Candidate): boolean => users.some(({ kind }) => kind === 'agent');

const isUsedInside = async (ports: RoomDeps, candidate: Candidate): Promise<boolean> =>
  (await isKeptByProcesses(ports, candidate.workspace)) ||
  (isOfAgent(candidate) && (await isKeptByCalls(ports, candidate.workspace)));

/**
 * Undefined when it is used again, or stopped. The first process of one that had none is a condition of the stop itself, and a
 * call of an execution session is in its record.
 */
const unusedBehindMark = async (ports: RoomDeps, candidate: Candidate): Promise<Candidate | undefined> => {
  const { workspaces, world } = ports;
  const { id, sandbox } = candidate.workspace;
  if (sandbox === undefined || (sandbox.hasProcesses === undefined && !isOfAgent(candidate)))
    return candidate;
  const idleCheck = world.uuid();
  const marked = await workspaces.markIdleCheck(id, sandbox.generation, idleCheck);
  if (marked === undefined) return undefined;
  await world.sleep(underWayMs);
  if (await isUsedInside(ports, candidate)) return undefined;
  return { ...candidate, workspace: { ...candidate.workspace, sandbox: { ...sandbox, idleCheck } } };
};

/** The longest idle first. */
const candidates = async (
  { workspaces, sessions, telemetry, world }: RoomDeps,
  ids: readonly Workspace['id'][],
): Promise<readonly Candidate[]> => {
  // One that more sessions share than one write can check is left to the janitor.
  const read = await workspaces.getMany(ids, (error) =>
    telemetry.error('a workspace cannot be read, and does not give way', { error }),
  );
  const found = read.filter((one) => one.users.length <= idleCheckUsersMax);
  const { sessions: users, unread } = await readUsers(
    { sessions, telemetry },
    found,
    'a session cannot be read, and its sandbox does not give way',
  );
  const at = world.now();
  return found
    .filter((workspace) => !workspace.users.some((user) => unread.has(user)))
    .flatMap((workspace) => {
      const own = users.filter(({ id }) => workspace.users.includes(id));
      const { sandbox } = workspace;
      const since = sandbox && idleSince({ sandbox, sessions: own }, at);
      return since === undefined ? [] : [{ workspace, users: own, since }];
    })
    .sort((one, other) => one.since - other.since);
};
