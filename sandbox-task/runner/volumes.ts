/**
 * The two folders that are saved and restored, each with what it remembers of earlier states.
 *
 * The workspace remembers its last three states by id, because the table decides which of them counts. The
 * shared volume remembers the one state that was stored, or restored: what a checkpoint sent counts once
 * its receiver says so.
 */
import { openCheckpoint, type RunningCheckpoint } from './checkpoint.ts';
import { createIndexShelf, type FileIndex } from './file-index.ts';
import { FileRefusal } from './file-refusal.ts';
import { openRestore, type RunningRestore } from './restore.ts';
import { openSharedCheckpoint } from './shared-checkpoint.ts';

export type Volume = {
  readonly openCheckpoint: (base: string) => Promise<RunningCheckpoint>;
  /** All of a checkpoint was sent. */
  readonly keepSent: (checkpoint: string, index: FileIndex) => void;
  readonly openRestore: () => RunningRestore;
  readonly keepRestored: (checkpoint: string, index: FileIndex) => void;
  /** What a checkpoint sent is stored. */
  readonly settle: (checkpoint: string) => void;
};

export const createWorkspaceVolume = (folder: string): Volume => {
  const shelf = createIndexShelf();
  return {
    openCheckpoint: (base) => openCheckpoint(folder, base === '' ? undefined : shelf.find(base)),
    keepSent: shelf.keep,
    openRestore: () => openRestore(folder),
    keepRestored: shelf.keep,
    settle: () => {
      throw new FileRefusal('invalid_request', 'a checkpoint of the workspace is settled by the next');
    },
  };
};

export const createSharedVolume = (folder: string): Volume => {
  let stored: FileIndex | undefined;
  let sent: { readonly checkpoint: string; readonly index: FileIndex } | undefined;
  return {
    openCheckpoint: () => {
      sent = undefined;
      return openSharedCheckpoint(folder, stored);
    },
    keepSent: (checkpoint, index) => {
      sent = { checkpoint, index };
    },
    openRestore: () => openRestore(folder, { isWhole: true }),
    keepRestored: (_checkpoint, index) => {
      stored = index;
    },
    settle: (checkpoint) => {
      if (sent?.checkpoint !== checkpoint)
        throw new FileRefusal('conflict', 'another checkpoint came after it');
      stored = sent.index;
      sent = undefined;
    },
  };
};
