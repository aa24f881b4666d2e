/** The check of a schedule's targets: every project, and every workspace of it, exists and is the caller's to use. */

import type { ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Schedule, ScheduleTarget } from '../../domain/schedule/schedule.ts';
import { findProject, projectNotFound } from '../access/find-project.ts';
import type { Deps, ScheduleDeps } from '../deps.ts';
import { resolveWorkspace } from '../session/resolve-workspace.ts';
import { leaveProject } from './leave-project.ts';

export const checkTargets = async (
  ports: ScheduleDeps,
  principal: Principal,
  targets: readonly ScheduleTarget[],
): Promise<void> => {
  for (const { project: id, workspace } of targets) {
    const project = await findProject(ports.projects, { id, principal, intent: 'write' });
    await resolveWorkspace(ports, { project, principal }, { id: workspace, creates: false });
  }
};

/**
 * Deleting a project marks it and then looks for its schedules; creating a schedule writes it and then looks for
 * the mark. So one of the two takes the project out.
 */
export const refuseIfDeleted = async (
  ports: ScheduleDeps & Deps<'schedules' | 'world'>,
  { id, targets }: Schedule,
): Promise<void> => {
  const gone: ProjectId[] = [];
  for (const { project } of targets)
    if ((await ports.projects.get(project)) === undefined) gone.push(project);
  for (const project of gone) await leaveProject(ports, id, project);
  if (gone.length > 0) throw projectNotFound();
};
