/** Proof that nothing leaks: when nothing fails any more and all is at rest, no answer is missing, and nothing runs or is stored unused. */
import { isPoolEntry } from '#shared/domain/pool.ts';
import { decodeTaskGroup } from '#shared/domain/sandbox.ts';
import { isEnded } from '#shared/domain/session.ts';
import type { Item } from './memory-table.ts';
import type { Platform } from './platform.ts';
import { idsOf, inboxOf, isAtRest, isOfNewerVersion, sessionOf, turnOf, workspaceOf } from './stored.ts';
import { checkSessionTree, checkTree } from './tree-leak-checks.ts';

/** Soon after the last fault every caller has an answer: none waits until an idle limit passes. */
export const checkAnswers = (platform: Platform): void => {
  const { sim, table, checkers } = platform;
  for (const message of checkers.log.unanswered())
    sim.violate('every accepted message ends in one completion', message);
  for (const id of idsOf(table, 'SESSION#')) checkSessionTree(platform, id);
};

export const checkRest = (platform: Platform): void => {
  const { table, sim } = platform;
  checkAnswers(platform);
  platform.checkers.ends.atRest();
  platform.checkers.relays.atRest();
  for (const id of idsOf(table, 'SESSION#')) {
    checkSession(platform, id);
    checkTree(platform, id);
  }
  checkSlots(platform);
  checkProjects(platform);
  checkSandboxes(platform);
  for (const id of idsOf(table, 'WORKSPACE#')) {
    const { sandbox, ...workspace } = workspaceOf(table, id);
    if (isOfNewerVersion(workspace)) continue;
    const isClosed = workspace.isNamed === true && workspace.deletedAt !== undefined;
    if (isClosed && table.get(`WORKSPACE#${id}`, 'REMAINS') === undefined)
      sim.violate('SN3: a deletion that is not over is due', id);
    const isOver = sandbox === undefined || sandbox.state === 'stopped';
    if (!isOver && !isPoolEntry(id as never))
      sim.violate('no sandbox is recorded that nobody uses', `${id}: ${sandbox.generation} ${sandbox.state}`);
  }
};

const isPointer = ({ sk }: Item): boolean => String(sk).startsWith('SESSION#');
/** The counters of schedules and MCP servers stay, at nothing. */
const isEmptyCounter = ({ sk, ttl: _, ...item }: Item): boolean =>
  (sk === 'SCHEDULE' || sk === 'MCP' || sk === 'SNAPSHOT') &&
  Object.values(item).every((value) => value === 0 || typeof value === 'string');

/** A resource that was answered as deleted has left no item behind. */
const checkProjects = ({ sim, table, deletedProjects }: Platform): void => {
  for (const project of deletedProjects) {
    const left = table
      .partition(`PROJECT#${project}`)
      .filter((item) => !isPointer(item) && !isEmptyCounter(item));
    const isMark = left.every(({ sk, ttl }) => sk === 'META' && ttl !== undefined);
    if (!isMark)
      sim.violate('WS5: a deleted project leaves nothing', `${project}: ${left.map(({ sk }) => sk)}`);
  }
  checkSchedules({ sim, table });
};

const checkSchedules = ({ sim, table }: Pick<Platform, 'sim' | 'table'>): void => {
  for (const id of idsOf(table, 'SCHEDULE#')) {
    if (table.startingWith(`SCHEDULE#${id}`, 'OPEN#').length > 0)
      sim.violate('no run of a schedule is open for ever', id);
    if (table.get(`SCHEDULE#${id}`, 'META') === undefined && isKept(table.partition(`SCHEDULE#${id}`)))
      sim.violate('J8: a deleted schedule leaves nothing but its history', id);
  }
  const sessionsOfRuns = new Map<string, string>();
  for (const id of idsOf(table, 'SESSION#'))
    for (const { sk } of table.startingWith(`SESSION#${id}`, 'ACCEPTED#run-')) {
      const other = sessionsOfRuns.get(String(sk));
      if (other !== undefined)
        sim.violate('J6: the prompt of a run is sent to one session', `${sk}: ${other} and ${id}`);
      sessionsOfRuns.set(String(sk), id);
    }
};

const checkSession = ({ sim, table }: Platform, id: string): void => {
  const meta = sessionOf(table, id);
  if (meta !== undefined && isOfNewerVersion(meta)) return;
  if (meta === undefined) {
    // Items of a connection expire.
    if (!table.partition(`SESSION#${id}`).every(({ ttl }) => ttl !== undefined))
      sim.violate('what is left of a session has its record', id);
    return;
  }
  if (inboxOf(table, id).length > 0) sim.violate('no message waits for ever', id);
  const state = turnOf(table, id);
  if (!isAtRest(state)) sim.violate('no turn runs for ever', `${id} is ${state.kind}`);
  if (meta.kind === 'execution' && meta.status !== 'paused' && !isEnded(meta.status))
    sim.violate('an idle execution session is paused', `${id} is ${meta.status}`);
  if (meta.kind === 'agent' && meta.status === 'running') sim.violate('a session at rest is idle', id);
};

/** At rest nothing works and nothing runs: every slot is free. */
const checkSlots = ({ sim, table }: Platform): void => {
  for (const holder of idsOf(table, 'SLOTS#'))
    for (const { session } of table.partition(`SLOTS#${holder}`))
      if (session !== undefined) sim.violate('a slot at rest is free', `${holder}: ${session}`);
};

const checkSandboxes = ({ sim, ecs, table, settings }: Platform): void => {
  for (const { taskArn, group, status } of ecs.tasks.filter((task) => task.status !== 'STOPPED')) {
    const id = decodeTaskGroup(group)?.workspaceId ?? ('' as never);
    const { sandbox } = workspaceOf(table, id);
    const isEntry = isPoolEntry(id) && sandbox?.taskArn === taskArn && settings.poolSize > 0;
    if (!isEntry) sim.violate('no sandbox runs for nobody', `${taskArn} of ${group} is ${status}`);
  }
};

/** A named one is kept until it is deleted. */
const isTemporary = (item: Item | undefined): boolean =>
  item !== undefined &&
  (item['isNamed'] === undefined || item['deletedAt'] !== undefined) &&
  !isOfNewerVersion(item);

/** After all its time nothing is left of a session but what expires: a person may have come while it was deleted. */
export const checkForgotten = (platform: Platform): void => {
  const { sim, bucket, table } = platform;
  for (const id of idsOf(table, 'SESSION#'))
    if (!isOfNewerVersion(sessionOf(table, id) ?? {}) && isKept(table.partition(`SESSION#${id}`)))
      sim.violate('a session is forgotten in the end', id);
  for (const id of idsOf(table, 'WORKSPACE#'))
    if (!isPoolEntry(id as never) && isTemporary(table.get(`WORKSPACE#${id}`, 'META')))
      sim.violate('a workspace is forgotten in the end', id);
  for (const id of bucket.owners())
    sim.violate('SN3: files are forgotten in the end', `${id}: ${bucket.objectsOf(id)}`);
  checkPins(platform);
};

const isKept = (items: readonly Item[]): boolean => items.some((item) => item['ttl'] === undefined);

const checkPins = ({ sim, table }: Platform): void => {
  for (const id of idsOf(table, 'WORKSPACE#'))
    for (const { sk } of table.partition(`WORKSPACE#${id}`))
      if (String(sk).startsWith('PIN') || sk === 'REMAINS')
        sim.violate('SN3: no pin and no remains are left in the end', `${id} ${sk}`);
};
