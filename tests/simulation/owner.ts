/**
 * Someone with a project: named workspaces that sessions and programs share, schedules that run in them, and in the end
 * the deletion of it all. Each is repeated until it succeeds, as clients do.
 */

import { activeSessionsOf } from '#shared/application/project/active-sessions.ts';
import { deleteProject } from '#shared/application/project/delete-project.ts';
import { createProject, updateProject } from '#shared/application/project/manage-projects.ts';
import {
  deleteWorkspace,
  listWorkspaces,
  makeWorkspace,
} from '#shared/application/project/manage-workspaces.ts';
import {
  createSchedule,
  removeSchedule,
  triggerSchedule,
  updateSchedule,
} from '#shared/application/schedule/manage-schedules.ts';
import { spawnSession } from '#shared/application/session/converse.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import { overlapBehaviors, sessionBehaviors } from '#shared/domain/schedule/schedule.ts';
import { isAppError } from '#shared/errors.ts';
import type { Platform } from './platform.ts';
import type { Ports } from './ports.ts';
import { startProgram } from './program.ts';
import { defaultsOf, found, principal, type Users } from './users.ts';

const names = {
  cron: 'cron',
  overlap: 'overlap',
  sessions: 'sessions',
  project: 'project',
  workspace: 'workspace',
};
const retryMs = 10_000;
const triesMax = 60;

type Owned = {
  readonly users: Users;
  readonly project: ProjectId;
  readonly workspaces: Set<string>;
  readonly schedules: Set<string>;
};

/** Repeated until it is answered, or refused for good. */
const persist = async <T>(platform: Platform, name: string, run: (ports: Ports) => Promise<T>) => {
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const ended = await platform.request(name, run);
    if (ended.status === 'done') return ended.value;
    if (ended.status === 'failed' && isAppError(ended.error) && ended.error.code !== 'conflict')
      return undefined;
    await platform.sim.pause(retryMs);
  }
  platform.sim.violate('what a client repeats succeeds in the end', name);
  return undefined;
};

export const startOwner = async (users: Users): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  const project = await persist(platform, 'creates a project', (ports) =>
    createProject(ports, principal, { name: 'theirs', approvals: 'auto' }),
  );
  if (project === undefined) return;
  const owned = { users, project: project.id, workspaces: new Set<string>(), schedules: new Set<string>() };
  while (sim.now() < until) {
    await act(owned);
    await sim.pause(sim.further.spread(500, 60_000));
  }
  await clearAway(owned);
};

const acts = [
  'speak',
  'speak',
  'program',
  'program',
  'schedule',
  'trigger',
  'change',
  'workspace',
  'remove',
] as const;

const act = async (owned: Owned): Promise<void> => {
  const { platform } = owned.users;
  const { further } = platform.sim;
  switch (further.pick<(typeof acts)[number]>(acts)) {
    case 'speak':
      return speak(owned);
    case 'program': {
      const workspace = someOf(owned, owned.workspaces);
      const inside = {
        project: owned.project,
        ...(workspace === undefined ? {} : { ref: { id: workspace, creates: false } }),
      };
      return void startProgram(owned.users, inside);
    }
    case 'schedule':
      return schedule(owned);
    case 'trigger':
      return onSchedule(owned, (ports, id) => triggerSchedule(ports, principal, id));
    case 'change':
      return change(owned);
    case 'workspace':
      return workspace(owned);
    case 'remove':
      return onSchedule(owned, (ports, id) => removeSchedule(ports, principal, id));
  }
};

const someOf = ({ users }: Owned, ids: ReadonlySet<string>): string | undefined =>
  ids.size === 0 ? undefined : users.platform.sim.further.pick([...ids]);

const speak = async (owned: Owned): Promise<void> => {
  const { users, project } = owned;
  const { platform } = users;
  const { further } = platform.sim;
  const id = someOf(owned, owned.workspaces);
  const messageId = `m-${further.uuid()}`;
  const once = () =>
    platform.request('speaks to a workspace', (ports) =>
      spawnSession(ports, {
        principal,
        project,
        ref: { id, creates: false },
        options: {},
        defaults: defaultsOf(platform),
        text: 'please',
        messageId,
        newSession: further.chance(0.2),
      }),
    );
  if (further.chance(0.3)) void once();
  await once();
};

const schedule = async ({ users, project, ...owned }: Owned): Promise<void> => {
  const { platform } = users;
  const { further } = platform.sim;
  const workspaces = [...owned.workspaces];
  const target = workspaces.length > 0 && further.chance(0.5) ? { workspace: further.pick(workspaces) } : {};
  const options = {
    ...{ name: 'every minute', cron: '* * * * *', prompt: 'look' },
    targets: [{ project, ...target }],
    overlap: further.pick(overlapBehaviors),
    sessions: further.pick(sessionBehaviors),
  };
  const made = await platform.request('makes a schedule', (ports) =>
    createSchedule(ports, principal, { options, names }),
  );
  if (made.status === 'done') owned.schedules.add(made.value.schedule.id);
};

const onSchedule = async (
  owned: Owned,
  run: (ports: Ports, id: string) => Promise<unknown>,
): Promise<void> => {
  const id = someOf(owned, owned.schedules);
  if (id !== undefined) await owned.users.platform.request('turns to a schedule', (ports) => run(ports, id));
};

const change = async (owned: Owned): Promise<void> => {
  const { platform } = owned.users;
  const { further } = platform.sim;
  const enabled = further.chance(0.5);
  if (further.chance(0.5))
    await onSchedule(owned, (ports, id) =>
      updateSchedule(ports, principal, { id, options: { enabled }, names }),
    );
  else
    await platform.request('changes a project', (ports) =>
      updateProject(ports, principal, { id: owned.project, description: `as of ${platform.sim.now()}` }),
    );
};

const within = async (ports: Ports, id: ProjectId) => {
  const project = await ports.projects.get(id);
  return project && { project, principal };
};

const workspace = async (owned: Owned): Promise<void> => {
  const { platform } = owned.users;
  const id = platform.sim.further.uuid();
  const old = someOf(owned, owned.workspaces);
  const deletes = old !== undefined && platform.sim.further.chance(0.3);
  const ended = await platform.request('turns to a workspace', async (ports) => {
    const place = await within(ports, owned.project);
    if (place === undefined) return;
    if (deletes) await deleteWorkspace(ports, place, old);
    else await makeWorkspace(ports, place, { id });
    await listWorkspaces(ports, place, { itemsMax: pageItemsMax });
  });
  if (ended.status !== 'done') return;
  if (deletes) owned.workspaces.delete(old);
  else owned.workspaces.add(id);
};

/** Schedules first, or they make new sessions. */
const clearAway = async ({ users, project, schedules }: Owned): Promise<void> => {
  const { platform } = users;
  const listed = await persist(platform, 'lists its schedules', async (ports) =>
    (await ports.schedules.listOf(project)).map(({ id }) => id),
  );
  for (const id of new Set([...schedules, ...(listed ?? [])]))
    await persist(platform, 'removes a schedule', (ports) => removeSchedule(ports, principal, id));
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    await persist(platform, 'ends its sessions', (ports) => endAll(ports, project));
    const ended = await platform.request('deletes its project', (ports) =>
      deleteProject(ports, principal, project),
    );
    if (ended.status === 'done' || (ended.status === 'failed' && isGone(ended.error))) {
      platform.deletedProjects.add(project);
      return;
    }
    await platform.sim.pause(retryMs);
  }
  platform.sim.violate('a project whose sessions have ended is deleted in the end', project);
};

const isGone = (error: unknown): boolean => isAppError(error) && error.code === 'project_not_found';

const endAll = async (ports: Ports, project: ProjectId): Promise<void> => {
  for await (const { id } of activeSessionsOf(ports, project)) {
    const { session } = await found(ports, id);
    await endSession(ports, session, { reason: 'its project is deleted' });
  }
};
