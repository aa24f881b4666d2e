/** What must hold when nothing fails any more and all has come to rest: nothing is owed, nothing runs for nobody. */

import { isPoolSlot } from '#shared/domain/pool.ts';
import { decodeTaskGroup } from '#shared/domain/sandbox.ts';
import { holdsPlace, isEnded, type Session } from '#shared/domain/session.ts';
import { isAtRest, type StoredWorkspace, stateOf } from './checkers.ts';
import type { Platform } from './platform.ts';

const idsOf = ({ table }: Platform, prefix: string): readonly string[] =>
  table
    .partitions()
    .filter((pk) => pk.startsWith(prefix) && table.partition(pk).length > 0)
    .map((pk) => pk.slice(prefix.length));

/** Soon after the last fault everybody has an answer: nobody waits until an idle limit has a look. */
export const checkAnswers = ({ sim, checkers }: Platform): void => {
  for (const message of checkers.log.unanswered())
    sim.violate('every accepted message ends in one completion', message);
};

export const checkRest = (platform: Platform): void => {
  const { table, sim } = platform;
  checkAnswers(platform);
  for (const id of idsOf(platform, 'SESSION#')) checkSession(platform, id);
  checkPlaces(platform);
  checkSandboxes(platform);
  for (const id of idsOf(platform, 'WORKSPACE#')) {
    const { sandbox } = (table.get(`WORKSPACE#${id}`, 'META') ?? {}) as StoredWorkspace;
    const isOver = sandbox === undefined || sandbox.state === 'stopped';
    if (!isOver && !isPoolSlot(id as never))
      sim.violate('no sandbox is recorded that nobody uses', `${id}: ${sandbox.generation} ${sandbox.state}`);
  }
};

const checkSession = ({ sim, table }: Platform, id: string): void => {
  const meta = table.get(`SESSION#${id}`, 'META') as Session | undefined;
  if (meta === undefined) {
    sim.violate('what is left of a session has its record', id);
    return;
  }
  if (table.partition(`SESSION#${id}`).some(({ sk }) => String(sk).startsWith('INBOX#')))
    sim.violate('no message waits for ever', id);
  const state = stateOf(table.get(`SESSION#${id}`, 'TURN'));
  if (!isAtRest(state)) sim.violate('no turn runs for ever', `${id} is ${state.kind}`);
  if (meta.kind === 'execution' && !isEnded(meta.status))
    sim.violate('an idle execution session ends', `${id} is ${meta.status}`);
  if (meta.kind === 'agent' && meta.status === 'running') sim.violate('a session at rest is idle', id);
};

const checkPlaces = (platform: Platform): void => {
  const { sim, table } = platform;
  for (const holder of idsOf(platform, 'PLACES#')) {
    for (const { session } of table.partition(`PLACES#${holder}`)) {
      if (session === undefined) continue;
      const meta = table.get(`SESSION#${session}`, 'META') as Session | undefined;
      if (meta === undefined || !holdsPlace(meta))
        sim.violate('a place is somebody’s', `${holder}: ${session}`);
    }
  }
};

const checkSandboxes = ({ sim, ecs, table, settings }: Platform): void => {
  for (const { taskArn, group, status } of ecs.tasks.filter((task) => task.status !== 'STOPPED')) {
    const id = decodeTaskGroup(group)?.workspaceId ?? ('' as never);
    const { sandbox } = (table.get(`WORKSPACE#${id}`, 'META') ?? {}) as StoredWorkspace;
    const isSlot = isPoolSlot(id) && sandbox?.taskArn === taskArn && settings.poolSize > 0;
    if (!isSlot) sim.violate('no sandbox runs for nobody', `${taskArn} of ${group} is ${status}`);
  }
};

/** After all its time nothing is left of a session. */
export const checkForgotten = (platform: Platform): void => {
  const { sim, bucket } = platform;
  for (const id of idsOf(platform, 'SESSION#')) sim.violate('a session is forgotten in the end', id);
  for (const id of idsOf(platform, 'WORKSPACE#'))
    if (!isPoolSlot(id as never) && platform.table.get(`WORKSPACE#${id}`, 'META') !== undefined)
      sim.violate('a workspace is forgotten in the end', id);
  for (const { id } of bucket.values()) sim.violate('files are forgotten in the end', id);
};
