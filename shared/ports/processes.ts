/** The records of processes: each written before its process starts, so that one that died with its sandbox is known. */
import type { SessionId, WorkspaceId } from '../domain/ids.ts';
import type { ProcessRecord } from '../domain/process.ts';

export type ProcessEnding = { readonly at: number; readonly exitCode?: number };

export interface ProcessStore {
  /** No effect when it exists. */
  put(record: ProcessRecord): Promise<void>;
  get(workspace: WorkspaceId, id: string): Promise<ProcessRecord | undefined>;
  /** Those of a workspace that are kept, oldest first, of one session if it is named. */
  list(workspace: WorkspaceId, session?: SessionId): Promise<readonly ProcessRecord[]>;
  /** Records its end, once. */
  end(workspace: WorkspaceId, id: string, ending: ProcessEnding): Promise<void>;
  /** Of one that was never started. */
  remove(workspace: WorkspaceId, id: string): Promise<void>;
}
