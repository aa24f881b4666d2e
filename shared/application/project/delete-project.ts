/**
 * Deletes a project in three steps: it is marked, which refuses anything new in it; decided, which hides it; and emptied by the
 * janitor.
 *
 * Refused while one of its sessions is active, and for the two projects of the platform itself. A repeated request for a
 * decided project empties it again.
 */

import { canonicalUuid, isUuid, type ProjectId } from '../../domain/ids.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import { syntheticProject } from '../../domain/synthetic-project.ts';
import { AppError } from '../../errors.ts';
import { audit } from '../access/audit.ts';
import { projectNotFound } from '../access/find-project.ts';
import type { ProjectDeps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { activeSessionsOf } from './active-sessions.ts';

/** For callers who may write resources of the deployment, which owns every project. */
export const deleteProject = async (ports: ProjectDeps, principal: Principal, id: string): Promise<void> => {
  if (id === defaultProject)
    throw new AppError('conflict', 'cannot delete default project', {
      suggestions: ['Delete its sessions, workspaces, secrets and servers one by one.'],
    });
  // Its id is not used again for a day or more: until then each check, and the one that ends a deploy, would fail.
  if (canonicalUuid(id) === syntheticProject)
    throw new AppError('conflict', 'the platform checks itself in this project', {
      suggestions: [
        'Keep it. SYNTHETIC_CHECK=false switches the checks off, and nothing is made in it then.',
      ],
    });
  const project = await untilWon(() => decide(ports, id), changesTooOften('the project'));
  await audit(ports, principal, { action: 'project.delete', subject: project, project });
  await ports.forgetter.forgetProject(project);
};

/** Once it was decided, a session that is found was made by one who has died: the janitor ends it. */
const decide = async (ports: ProjectDeps, id: string): Promise<ProjectId | typeof raceLost> => {
  const at = ports.world.now();
  const marked = isUuid(id) ? await ports.projects.markDeleted(id as ProjectId, at) : undefined;
  if (marked === undefined) throw projectNotFound();
  const { project, isDecided } = marked;
  if (isDecided) return project.id;
  if (await hasActiveSession(ports, project.id)) {
    await ports.projects.unmarkDeleted(project.id, at);
    throw new AppError('conflict', 'the project has active sessions', {
      suggestions: ['End its sessions first.'],
      recoveryActions: ['stop_session'],
    });
  }
  return (await ports.projects.decideDeleted(marked)) ? project.id : raceLost;
};

const hasActiveSession = async (ports: ProjectDeps, project: ProjectId): Promise<boolean> => {
  for await (const _ of activeSessionsOf(ports, project)) return true;
  return false;
};
