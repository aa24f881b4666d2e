/** Projects: made, read, changed, listed, deleted in two steps. The default project needs no record. */
import type { OwnerId, ProjectId } from '../domain/ids.ts';
import type { Project, ProjectChange } from '../domain/project.ts';

export interface ProjectStore {
  create(project: Project): Promise<void>;
  /** One that is being deleted is not there. */
  get(id: ProjectId): Promise<Project | undefined>;
  /** As it stands then; undefined when it is not there. Fields that two change at once do not undo each other. */
  change(id: ProjectId, change: ProjectChange): Promise<Project | undefined>;
  /** From now on it is not there; the project, also when it was marked before; undefined when there is none. */
  markDeleted(id: ProjectId, at: number): Promise<Project | undefined>;
  /** Takes that mark away, or one whose maker has died since: it is there again. */
  unmarkDeleted(id: ProjectId, at: number): Promise<void>;
  /** The end of one that is marked: what the table remembers of it goes after a while. */
  remove(id: ProjectId, at: number): Promise<void>;
  /** Newest first. `after` is what the previous page gave as `next`. */
  list(
    owner: OwnerId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{ readonly projects: readonly Project[]; readonly next?: string }>;
}
