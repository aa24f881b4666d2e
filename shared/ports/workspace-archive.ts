/** Checkpoints of a workspace: out of a sandbox into the bucket, and back into the next one. */

import type { Checkpoint, LeftOut, ManifestRef, Missing } from '../domain/checkpoint.ts';
import type { EffectFile } from '../domain/effect.ts';
import type { OwnerId, WorkspaceId } from '../domain/ids.ts';
import type { LiveSandbox } from '../domain/sandbox.ts';
import type { SavedWant } from '../domain/saved-tree.ts';

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
      readonly packs: readonly string[];
      /** The files are those of the base: their contents were written anew, or their times are others. */
      readonly hasSameFiles?: true;
      readonly leftOut: readonly LeftOut[];
      readonly logs: readonly SandboxLogLine[];
    }
  | {
      readonly status: 'unchanged';
      readonly leftOut: readonly LeftOut[];
      readonly logs: readonly SandboxLogLine[];
    }
  /** Too large, or the sandbox refused. */
  | { readonly status: 'refused'; readonly code: string; readonly message: string };

type WorkspaceRestoreOutcome =
  | { readonly status: 'restored'; readonly files: number; readonly missing: readonly Missing[] }
  /** The manifest is not the saved one: nothing of the workspace was restored. */
  | { readonly status: 'refused'; readonly reason: string };

/**
 * The objects, of those that the last checkpoint made obsolete, that stay: those in `kept`; those in `held` until a later save;
 * or all until the next one.
 */
export type ObsoleteObjects =
  | { readonly kept: readonly string[]; readonly held?: readonly string[] }
  | 'later';

export type AdoptOutcome =
  | {
      readonly status: 'adopted';
      readonly manifest: ManifestRef;
      readonly files: number;
      readonly bytes: number;
      readonly packs: readonly string[];
    }
  /** A manifest is not the one that was saved. */
  | { readonly status: 'refused'; readonly reason: string };

/** Two saved states of a workspace or of a fork of it, each absent where there were no files. */
export type SavedStates = { readonly before?: ManifestRef; readonly after?: ManifestRef };

export type CompareOutcome =
  /** `changes`: the number of all of them; the files are the first. */
  | { readonly status: 'compared'; readonly files: readonly EffectFile[]; readonly changes: number }
  | { readonly status: 'refused'; readonly reason: string };

export type ApplyOutcome =
  | { readonly status: 'applied'; readonly files: number; readonly missing: readonly Missing[] }
  | { readonly status: 'refused'; readonly reason: string };

export interface WorkspaceArchive {
  /** True when a shared volume is restored at every start, also into a workspace that was never saved. */
  readonly keepsShared: boolean;
  /** True when all sandboxes have one shared folder mounted. */
  readonly mountsShared: boolean;
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
      /** Absent: what its sandboxes share is not saved. */
      readonly owner?: OwnerId;
      /** Of a workspace whose objects others need. */
      readonly obsolete?: ObsoleteObjects;
    },
  ): Promise<SaveOutcome>;
  /**
   * Throws `sandbox_unavailable` as `save` does, and after a restore under a later claim. Without a manifest the
   * workspace stays empty.
   */
  restore(
    sandbox: LiveSandbox,
    request: { readonly manifest?: ManifestRef; readonly owner?: OwnerId; readonly claim: number },
  ): Promise<RestoreOutcome>;
  /**
   * Writes a manifest of the workspace that has the contents of another one, without a sandbox and without copying
   * them; without `from` it is empty. The caller's own write makes it the checkpoint.
   */
  adopt(
    workspace: WorkspaceId,
    request: {
      readonly id: string;
      readonly from?: ManifestRef;
      /** The checkpoint that the table names: its objects become obsolete. */
      readonly base?: ManifestRef;
      readonly obsolete?: ObsoleteObjects;
    },
  ): Promise<AdoptOutcome>;
  /** The difference of two states, read without a sandbox. */
  compare(workspace: WorkspaceId, states: SavedStates): Promise<CompareOutcome>;
  /** Writes the difference of two states into a sandbox that runs: again, it changes nothing. */
  apply(sandbox: LiveSandbox, request: SavedStates & { readonly id: string }): Promise<ApplyOutcome>;
  /** Deletes these objects of it. */
  remove(workspace: WorkspaceId, objects: readonly string[]): Promise<void>;
  /** Deletes everything that was ever saved of it but `kept`; the shared volume is its owner's and stays. */
  forget(workspace: WorkspaceId, kept?: readonly string[]): Promise<void>;
}

export type SavedFileRequest = {
  readonly checkpoint: Checkpoint;
  readonly want: SavedWant;
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
