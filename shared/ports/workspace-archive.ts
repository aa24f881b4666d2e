/** Checkpoints of a workspace: out of a sandbox into the bucket, and back into the next one. */
import type { Checkpoint, LeftOut, ManifestRef, Missing } from '../domain/checkpoint.ts';
import type { OwnerId, WorkspaceId } from '../domain/ids.ts';
import type { LiveSandbox } from '../domain/sandbox.ts';

export type SandboxLogLine = {
  /** Counts from 1 within one sandbox. */
  readonly number: number;
  readonly at: number;
  readonly stream: 'stderr' | 'lifecycle';
  readonly text: string;
};

/** The outcome for the volume that sandboxes of one owner share; empty where there is none to save. */
type SharedSave = {
  /** Files written and deleted by this save. */
  readonly shared?: {
    readonly files: number;
    readonly bytes: number;
    readonly removed: number;
    readonly leftOut: readonly LeftOut[];
  };
  /** The reason for which it was not saved. */
  readonly sharedFailed?: string;
};

type SharedRestore = {
  readonly shared?: { readonly files: number; readonly bytes: number; readonly missing: readonly Missing[] };
  /** The reason for which it was not restored. */
  readonly sharedFailed?: string;
};

export type SaveOutcome = SharedSave & WorkspaceSaveOutcome;
export type RestoreOutcome = SharedRestore & WorkspaceRestoreOutcome;

type WorkspaceSaveOutcome =
  | {
      readonly status: 'saved';
      readonly manifest: ManifestRef;
      readonly files: number;
      readonly bytes: number;
      readonly leftOut: readonly LeftOut[];
      readonly logs: readonly SandboxLogLine[];
    }
  | { readonly status: 'unchanged'; readonly logs: readonly SandboxLogLine[] }
  /** Too large, or the sandbox refused. */
  | { readonly status: 'refused'; readonly code: string; readonly message: string };

type WorkspaceRestoreOutcome =
  | { readonly status: 'restored'; readonly files: number; readonly missing: readonly Missing[] }
  /** The manifest is not the saved one: nothing of the workspace was restored. */
  | { readonly status: 'refused'; readonly reason: string };

export interface WorkspaceArchive {
  /** True when a shared volume is restored at every start, also into a workspace that was never saved. */
  readonly keepsShared: boolean;
  /**
   * Throws `sandbox_unavailable` when the sandbox cannot be reached or dies during the save: nothing was saved
   * then.
   */
  save(
    sandbox: LiveSandbox,
    request: {
      readonly id: string;
      readonly base?: ManifestRef;
      readonly logsAfter: number;
      readonly owner: OwnerId;
    },
  ): Promise<SaveOutcome>;
  /** Throws `sandbox_unavailable` as `save` does. Without a manifest the workspace stays empty. */
  restore(
    sandbox: LiveSandbox,
    request: { readonly manifest?: ManifestRef; readonly owner: OwnerId },
  ): Promise<RestoreOutcome>;
  /** Deletes everything that was ever saved of it; the shared volume is its owner's and stays. */
  forget(workspace: WorkspaceId): Promise<void>;
}

export type SavedFileRequest = {
  readonly checkpoint: Checkpoint;
  readonly want: 'file' | 'folder';
  /** As a client gives it: relative to the workspace, or absolute. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
};

/** Files of a workspace as they were saved, read without a sandbox. */
export interface SavedFiles {
  /**
   * Answers as a sandbox does: the bytes, the list of a folder, or a refusal. A body that differs from the saved
   * file breaks off.
   */
  fetch(workspace: WorkspaceId, request: SavedFileRequest): Promise<Response>;
}
