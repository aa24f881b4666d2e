/**
 * Deletes a project in two steps: marked, which hides it and refuses new sessions in it, then emptied by the
 * janitor. Refused while one of its sessions is active. A repeated request for a marked one empties it again.
 */

import { isUuid, type ProjectId } from '../../domain/ids.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import { audit } from '../access/audit.ts';
import { projectNotFound } from '../access/find-project.ts';
import type { ProjectDeps } from '../deps.ts';
import { activeSessionsOf } from './active-sessions.ts';

/** For callers who may write resources of the deployment, which owns every project. */
export const deleteProject = async (ports: ProjectDeps, principal: Principal, id: string): Promise<void> => {
  if (id === defaultProject)
    throw new AppError('conflict', 'cannot delete default project', {
      suggestions: ['Delete its sessions, workspaces, secrets and servers one by one.'],
    });
  const at = ports.world.now();
  const marked = isUuid(id) ? await ports.projects.markDeleted(id as ProjectId, at) : undefined;
  if (marked === undefined) throw projectNotFound();
  if (await hasActiveSession(ports, marked.id)) {
    await ports.projects.unmarkDeleted(marked.id, at);
    throw new AppError('conflict', 'the project has active sessions', {
      suggestions: ['End its sessions first.'],
      recoveryActions: ['stop_session'],
    });
  }
  await audit(ports, principal, { action: 'project.delete', subject: marked.id, project: marked.id });
  await ports.forgetter.forgetProject(marked.id);
};

const hasActiveSession = async (ports: ProjectDeps, project: ProjectId): Promise<boolean> => {
  for await (const _ of activeSessionsOf(ports, project)) return true;
  return false;
};
