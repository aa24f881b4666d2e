/** The check of a schedule's targets: every project, and every workspace of it, exists and is the caller's to use. */

import type { Principal } from '../../domain/principal.ts';
import type { ScheduleTarget } from '../../domain/schedule/schedule.ts';
import { findProject } from '../access/find-project.ts';
import type { ScheduleDeps } from '../deps.ts';
import { resolveWorkspace } from '../session/resolve-workspace.ts';

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
