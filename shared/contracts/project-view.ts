/** A project as REST shows it. */
import type { Project } from '#shared/domain/project.ts';

export const projectView = ({ owner: _, createdAt, ...project }: Project) => ({
  ...project,
  createdAt: new Date(createdAt).toISOString(),
});
