/** Projects, created, read, changed, listed, deleted in two steps, and their secrets. The default project needs no record. */
import type { OwnerId, ProjectId } from '../domain/ids.ts';
import type { Project, ProjectChange } from '../domain/project.ts';

/** A project that is being deleted. */
export type MarkedProject = {
  readonly project: Project;
  readonly deletedAt: number;
  /** It had no active session: it is being emptied. */
  readonly isDecided: boolean;
};

/** Projects: created, read, changed, listed, deleted in two steps. The default project needs no record. */
export interface ProjectStore {
  create(project: Project): Promise<void>;
  /** Undefined for one whose deletion was decided. */
  get(id: ProjectId): Promise<Project | undefined>;
  /** True from its mark on, also when it is gone: anything made in it concurrently is taken back. */
  isMarked(id: ProjectId): Promise<boolean>;
  /**
   * The project after the change; undefined when it does not exist. Concurrent changes of different fields both
   * hold. With `read` only while those fields are as they were read (undefined: absent); undefined otherwise.
   */
  change(
    id: ProjectId,
    change: ProjectChange,
    read?: { readonly [Field in keyof Project]?: Project[Field] | undefined },
  ): Promise<Project | undefined>;
  /**
   * From now on nothing is made in the project, and it is not changed. Returns it with its mark, even if it was marked before; undefined
   * when there is none.
   */
  markDeleted(id: ProjectId, at: number): Promise<MarkedProject | undefined>;
  /** Removes that mark, or one whose maker has died since, unless it was decided. */
  unmarkDeleted(id: ProjectId, at: number): Promise<void>;
  /** Hides the project: the mark stays, whatever is found later. False when it is not the mark that was read. */
  decideDeleted(marked: MarkedProject): Promise<boolean>;
  /** Ends a marked project: the mark expires later. */
  remove(id: ProjectId, at: number): Promise<void>;
  /** Newest first. `after` is the previous page's `next`. */
  list(
    owner: OwnerId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{ readonly projects: readonly Project[]; readonly next?: string }>;
}

/** Secrets of a project by name: people write them, connections to servers read them, and nothing shows them. */
export interface ProjectSecrets {
  names(project: ProjectId): Promise<readonly string[]>;
  /** All of them, by name; may be up to a minute old. */
  read(project: ProjectId): Promise<Readonly<Record<string, string>>>;
  /** True when there was none of this name. */
  put(project: ProjectId, name: string, value: string): Promise<boolean>;
  /** False when there was none. */
  remove(project: ProjectId, name: string): Promise<boolean>;
  /** Removes all of them. */
  clear(project: ProjectId): Promise<void>;
}
