/** Whether somebody may have a schedule run where it wants to: every project, and every workspace of it, is there. */
import type { Principal } from '../../domain/principal.ts';
import type { ScheduleTarget } from '../../domain/schedule/schedule.ts';
import type { ProjectStore } from '../../ports/project-store.ts';
import { findProject } from '../project/find-project.ts';
import { resolveWorkspace, type WorkspacePorts } from '../workspace/resolve-workspace.ts';

export type TargetPorts = WorkspacePorts & { readonly projects: Pick<ProjectStore, 'get'> };

export const checkTargets = async (
  ports: TargetPorts,
  principal: Principal,
  targets: readonly ScheduleTarget[],
): Promise<void> => {
  for (const { project: id, workspace } of targets) {
    const project = await findProject(ports.projects, { id, principal, intent: 'write' });
    await resolveWorkspace(ports, { project, principal }, { id: workspace, creates: false });
  }
};
