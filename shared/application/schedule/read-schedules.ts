/** Schedules and their histories as they are shown. Open runs are polled, so that an end is seen at once. */

import { projectOf } from '../../domain/access.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ScheduleState } from '../../domain/schedule/next-step.ts';
import { runName, type ShownRun } from '../../domain/schedule/run.ts';
import type { ListedSchedule } from '../../domain/schedule/schedule.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { waitingCall } from '../../domain/turn/waiting-call.ts';
import { findProject } from '../access/find-project.ts';
import { findSchedule, isReadable } from '../access/find-schedule.ts';
import type { Deps, ScheduleDeps } from '../deps.ts';
import { type Look, pollRun } from './poll-run.ts';

type Page = { readonly after?: string | undefined; readonly itemsMax: number };

export const getSchedule = (
  ports: Deps<'schedules'>,
  principal: Principal,
  id: string,
): Promise<ScheduleState> => findSchedule(ports, { id, principal, intent: 'read' });

/** Newest first: of the named project, or the one the scope is bound to, else of all. */
export const listSchedules = async (
  { schedules, projects }: ScheduleDeps,
  principal: Principal,
  { project, after, itemsMax }: Page & { readonly project?: string | undefined },
): Promise<{ readonly schedules: readonly ListedSchedule[]; readonly next?: string }> => {
  const named = project ?? projectOf(principal.scope);
  const page =
    named === undefined
      ? await schedules.list({ itemsMax, ...(after === undefined ? {} : { after }) })
      : {
          schedules: await schedules.listOf(
            (await findProject(projects, { id: named, principal, intent: 'read' })).id,
          ),
        };
  return { ...page, schedules: page.schedules.filter((schedule) => isReadable(principal, schedule)) };
};

/** Newest first, including the open ones. */
export const scheduleHistory = async (
  ports: ScheduleDeps,
  principal: Principal,
  { id, after, itemsMax }: Page & { readonly id: string },
): Promise<{ readonly runs: readonly ShownRun[]; readonly next?: string }> => {
  const { schedule, open } = await findSchedule(ports, { id, principal, intent: 'read' });
  const page = { itemsMax, now: ports.world.now(), ...(after === undefined ? {} : { after }) };
  const ended = await ports.schedules.history(schedule.id, page);
  const going = open.filter((run) => after === undefined || runName(run) < after);
  // A run may have ended between the two reads: its row in the history is the newer one.
  const all = new Map([...going, ...ended.runs].map((run) => [runName(run), run]));
  const sorted = [...all.values()].sort((one, other) => (runName(one) < runName(other) ? 1 : -1));
  const shown = sorted.slice(0, itemsMax);
  const runs = await Promise.all(shown.map(async (run) => shownRun(ports, await pollRun(ports, run))));
  const last = shown.at(-1);
  const hasMore = sorted.length > shown.length || ended.next !== undefined;
  return {
    runs,
    ...(hasMore && last !== undefined ? { next: runName(last) } : {}),
  };
};

const shownRun = async (ports: AskedDeps, { run, open }: Look): Promise<ShownRun> =>
  open !== undefined && (await needsApproval(ports, open)) ? { ...run, needsApproval: true } : run;

type AskedDeps = Deps<'sessions' | 'turns'>;

/** The call of a session under it holds up the run as well. */
const needsApproval = async (ports: AskedDeps, session: Session): Promise<boolean> => {
  const below = session.hasChildren === true ? await ports.sessions.descendants(session.id) : [];
  const asking = await Promise.all([session, ...below].map((one) => asksPerson(ports, one)));
  return asking.includes(true);
};

/** The record says it, but for a turn that a program of the sandbox carries. */
const asksPerson = async (
  { turns }: AskedDeps,
  { id, runtime, status, waits = false }: Session,
): Promise<boolean> => {
  if (runtime === undefined || isEnded(status)) return waits;
  const found = await turns.getWithTurn(id);
  return found !== undefined && waitingCall(found.turn.state) !== undefined;
};
