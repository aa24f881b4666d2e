/** Secrets of a project by name: people write them, connections to servers read them, and nothing shows them. */
import type { ProjectId } from '../domain/ids.ts';

export interface ProjectSecrets {
  names(project: ProjectId): Promise<readonly string[]>;
  /** All of them, by name; may be up to a minute old. */
  read(project: ProjectId): Promise<Readonly<Record<string, string>>>;
  put(project: ProjectId, name: string, value: string): Promise<void>;
  /** False when there was none. */
  remove(project: ProjectId, name: string): Promise<boolean>;
  /** Removes all of them. */
  clear(project: ProjectId): Promise<void>;
}
