/** Files of a workspace as they were saved, read without a sandbox. */
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { WorkspaceId } from '../domain/ids.ts';

export type SavedFileRequest = {
  readonly checkpoint: Checkpoint;
  readonly want: 'file' | 'folder';
  /** As a client gives it: relative to the workspace, or absolute. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
};

export interface SavedFiles {
  /**
   * Answers as a sandbox does: the bytes, the list of a folder, or a refusal. A body that differs from the saved
   * file breaks off.
   */
  fetch(workspace: WorkspaceId, request: SavedFileRequest): Promise<Response>;
}
