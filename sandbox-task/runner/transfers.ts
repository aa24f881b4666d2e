/**
 * Transfers: checkpoints and restores of the two volumes, each under the name that the server gave it.
 *
 * The server runs them one after another and closes each; an open one is closed by the next. The workspace
 * remembers its last three states by id, because the table decides which of them counts, and compares itself with the newest on
 * request. The shared volume remembers the one state that was stored or restored: a checkpoint counts once its receiver confirms it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunnerMessage } from '../wire/messages.ts';
import type { TransferRequest, VolumeName } from '../wire/transfer-messages.ts';
import { openCheckpoint, openSharedCheckpoint, type RunningCheckpoint } from './checkpoint.ts';
import { createIndexCache, type FileIndex, settleMs } from './file-index.ts';
import { openRestore, type RunningRestore } from './restore.ts';
import { isAsIndexed, isComparable } from './same-state.ts';
import { FileRefusal } from './workspace-path.ts';

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
type TransferAnswer = {
  readonly message: WithoutId<Extract<RunnerMessage, { type: 'done' | 'piece' | 'restored' | 'compared' }>>;
  readonly payload?: Buffer;
};
type Transfers = {
  readonly serve: (request: TransferRequest, payload: Buffer) => Promise<TransferAnswer>;
};

type Current = { readonly transfer: string; readonly checkpoint: string; readonly volume: Volume } & (
  | { readonly saving: RunningCheckpoint }
  | { readonly restoring: RunningRestore; readonly applies: boolean }
);
type Folders = { readonly workspace: string; readonly sharedPath?: string | undefined };

const done: TransferAnswer = { message: { type: 'done' } };

export const createTransfers = ({ workspace, sharedPath }: Folders): Transfers => {
  const volumes = {
    workspace: createWorkspaceVolume(workspace),
    shared: sharedPath === undefined ? undefined : createSharedVolume(sharedPath),
  };
  const volumeNamed = (name: VolumeName): Volume => volumes[name] ?? refuseVolume();
  let current: Current | undefined;

  const close = (): void => {
    const closed = current;
    current = undefined;
    if (closed === undefined) return;
    if ('saving' in closed) closed.saving.close();
    else closed.restoring.finish();
  };
  const read = (): TransferAnswer => {
    if (current === undefined || !('saving' in current)) throw unknown();
    const { checkpoint, saving, volume } = current;
    const { bytes, isLast } = saving.next();
    if (isLast) volume.keepSent(checkpoint, saving.index);
    return { message: { type: 'piece', isLast }, payload: bytes };
  };
  const finishRestore = async (): Promise<TransferAnswer> => {
    if (current === undefined || !('restoring' in current)) throw unknown();
    const { checkpoint, restoring, volume, applies } = current;
    current = undefined;
    const outcome = restoring.finish();
    if (outcome === undefined) throw new FileRefusal('invalid_request', 'the archive has no end');
    if (!applies) {
      // User code goes on after the answer: no change of its own may bear the time of ours.
      await delay(settleMs);
      volume.keepRestored(checkpoint, outcome.index, outcome.missing.length === 0);
    }
    const { files, missing } = outcome;
    return { message: { type: 'restored', files }, payload: Buffer.from(JSON.stringify(missing)) };
  };
  /** During a transfer another state may be on its way. */
  const compare = (checkpoint: string): TransferAnswer => ({
    message: {
      type: 'compared',
      isSame: current === undefined && volumes.workspace.isAsSaved(checkpoint),
    },
  });
  const writeRestore = (bytes: Buffer): TransferAnswer => {
    if (current === undefined || !('restoring' in current)) throw unknown();
    current.restoring.write(bytes);
    return done;
  };
  const open = async (request: OpenRequest): Promise<TransferAnswer> => {
    close();
    const { transfer, checkpoint } = request;
    const volume = volumeNamed(request.volume);
    current =
      request.type === 'checkpoint-open'
        ? { transfer, checkpoint, volume, saving: await volume.openCheckpoint(request.base) }
        : { transfer, checkpoint, volume, restoring: volume.openRestore(), applies: request.applies };
    return done;
  };

  const serve = async (request: TransferRequest, payload: Buffer): Promise<TransferAnswer> => {
    if (!isWithoutTransfer(request) && current?.transfer !== request.transfer) {
      if (request.type === 'transfer-close') return done;
      throw unknown();
    }
    switch (request.type) {
      case 'checkpoint-open':
      case 'restore-open':
        return open(request);
      case 'checkpoint-settle':
        volumeNamed(request.volume).settle(request.checkpoint, request.as);
        return done;
      case 'checkpoint-compare':
        return compare(request.checkpoint);
      case 'checkpoint-read':
        return read();
      case 'restore-write':
        return writeRestore(payload);
      case 'restore-end':
        return finishRestore();
      case 'transfer-close':
        close();
        return done;
    }
  };
  return { serve };
};

type OpenRequest = Extract<TransferRequest, { type: 'checkpoint-open' | 'restore-open' }>;

/** All other requests must name the current transfer. */
const isWithoutTransfer = ({ type }: TransferRequest): boolean =>
  type === 'checkpoint-open' ||
  type === 'restore-open' ||
  type === 'checkpoint-settle' ||
  type === 'checkpoint-compare';

const unknown = (): FileRefusal => new FileRefusal('invalid_request', 'there is no such transfer');

const refuseVolume = (): never => {
  throw new FileRefusal('file_not_found', 'there is no shared volume here');
};

type Volume = {
  readonly openCheckpoint: (base: string) => Promise<RunningCheckpoint>;
  /** All of a checkpoint was sent. */
  readonly keepSent: (checkpoint: string, index: FileIndex) => void;
  readonly openRestore: () => RunningRestore;
  readonly keepRestored: (checkpoint: string, index: FileIndex, isWhole: boolean) => void;
  /** The sent checkpoint is stored; that of the workspace was the older one over again. */
  readonly settle: (checkpoint: string, as: string) => void;
};

type WorkspaceVolume = Volume & {
  /** True when this checkpoint is the newest state that left or came, and the folder is as it was then. */
  readonly isAsSaved: (checkpoint: string) => boolean;
};

const createWorkspaceVolume = (folder: string): WorkspaceVolume => {
  const indices = createIndexCache();
  let base = '';
  let newest: string | undefined;
  return {
    openCheckpoint: async (asked) => {
      base = asked;
      return openCheckpoint(folder, indices.find(base));
    },
    keepSent: (checkpoint, index) => {
      // A checkpoint without any change is not stored: its base stays the newest.
      newest = isComparable(index) && indices.find(base)?.equals(index) ? base : checkpoint;
      indices.keep(checkpoint, index);
    },
    isAsSaved: (checkpoint) => {
      const index = checkpoint === newest ? indices.find(checkpoint) : undefined;
      return index !== undefined && isAsIndexed(folder, index);
    },
    openRestore: () => openRestore(folder),
    keepRestored: (checkpoint, index, isWhole) => {
      indices.keep(checkpoint, index);
      newest = isWhole ? checkpoint : undefined;
    },
    settle: (checkpoint, as) => {
      const index = indices.find(checkpoint);
      if (index === undefined) throw new FileRefusal('conflict', 'other checkpoints came after it');
      indices.keep(as, index);
      if (newest === checkpoint) newest = as;
    },
  };
};

const createSharedVolume = (folder: string): Volume => {
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
    openRestore: () => openRestore(folder),
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
