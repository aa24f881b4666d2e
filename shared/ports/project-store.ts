/** Projects: made, read, listed. The default project needs no record. */
import type { OwnerId, ProjectId } from '../domain/ids.ts';
import type { Project } from '../domain/project.ts';

export interface ProjectStore {
  create(project: Project): Promise<void>;
  get(id: ProjectId): Promise<Project | undefined>;
  /** Newest first. `after` is what the previous page gave as `next`. */
  list(
    owner: OwnerId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{ readonly projects: readonly Project[]; readonly next?: string }>;
}
