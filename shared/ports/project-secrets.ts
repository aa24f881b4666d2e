/** Secrets of a project by name: written by people, read where a server is reached, shown to nobody. */
import type { ProjectId } from '../domain/ids.ts';

export interface ProjectSecrets {
  names(project: ProjectId): Promise<readonly string[]>;
  /** All of them, by name; believed for up to a minute. */
  read(project: ProjectId): Promise<Readonly<Record<string, string>>>;
  put(project: ProjectId, name: string, value: string): Promise<void>;
  /** False when there was none. */
  remove(project: ProjectId, name: string): Promise<boolean>;
  /** Removes all of them. */
  clear(project: ProjectId): Promise<void>;
}
