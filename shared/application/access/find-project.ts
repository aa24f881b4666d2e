/** Finds a project for a caller; another owner's is answered like one that does not exist. */
import type { Intent } from '../../domain/access.ts';
import { isUuid, type ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import { AppError } from '../../errors.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import { requireReach } from './require-permission.ts';

export const projectNotFound = (): AppError =>
  new AppError('project_not_found', 'there is no such project', {
    suggestions: ['List the projects, or leave the project out for the default one.'],
  });

export const findProject = async (
  projects: ProjectStore,
  { id, principal, intent }: { readonly id: string; readonly principal: Principal; readonly intent: Intent },
): Promise<Project> => {
  const project = isUuid(id) ? await projects.get(id as ProjectId) : undefined;
  if (project === undefined) throw projectNotFound();
  requireReach(principal, { project: project.id }, { intent, notFound: projectNotFound });
  return project;
};
