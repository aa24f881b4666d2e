/**
 * The transfers: checkpoints and restores under way, each under the name the server gave it.
 *
 * The server runs them one after another and closes each; what it left open is closed by the next one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunnerMessage, TransferRequest, VolumeName } from '../wire/messages.ts';
import type { RunningCheckpoint } from './checkpoint.ts';
import { settleMs } from './file-index.ts';
import { FileRefusal } from './file-refusal.ts';
import type { RunningRestore } from './restore.ts';
import { createSharedVolume, createWorkspaceVolume, type Volume } from './volumes.ts';

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
export type TransferAnswer = {
  readonly message: WithoutId<Extract<RunnerMessage, { type: 'done' | 'piece' | 'restored' }>>;
  readonly payload?: Buffer;
};
export type Transfers = {
  readonly serve: (request: TransferRequest, payload: Buffer) => Promise<TransferAnswer>;
};

type Current = { readonly transfer: string; readonly checkpoint: string; readonly volume: Volume } & (
  | { readonly saving: RunningCheckpoint }
  | { readonly restoring: RunningRestore }
);
export type Folders = { readonly workspace: string; readonly sharedPath?: string | undefined };

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
    const { checkpoint, restoring, volume } = current;
    current = undefined;
    const outcome = restoring.finish();
    if (outcome === undefined) throw new FileRefusal('invalid_request', 'the archive has no end');
    // User code goes on after the answer: no change of its own may bear the time of ours.
    await delay(settleMs);
    volume.keepRestored(checkpoint, outcome.index);
    const { files, missing } = outcome;
    return { message: { type: 'restored', files }, payload: Buffer.from(JSON.stringify(missing)) };
  };
  const writeRestore = (bytes: Buffer): TransferAnswer => {
    if (current === undefined || !('restoring' in current)) throw unknown();
    current.restoring.take(bytes);
    return done;
  };
  const open = async (request: OpenRequest): Promise<TransferAnswer> => {
    close();
    const { transfer, checkpoint } = request;
    const volume = volumeNamed(request.volume);
    current =
      request.type === 'checkpoint-open'
        ? { transfer, checkpoint, volume, saving: await volume.openCheckpoint(request.base) }
        : { transfer, checkpoint, volume, restoring: volume.openRestore() };
    return done;
  };

  const serve = async (request: TransferRequest, payload: Buffer): Promise<TransferAnswer> => {
    if (!opensOrSettles(request) && current?.transfer !== request.transfer) {
      if (request.type === 'transfer-close') return done;
      throw unknown();
    }
    switch (request.type) {
      case 'checkpoint-open':
      case 'restore-open':
        return open(request);
      case 'checkpoint-settle':
        volumeNamed('shared').settle(request.checkpoint);
        return done;
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

/** Of all others the transfer must be the current one. */
const opensOrSettles = ({ type }: TransferRequest): boolean =>
  type === 'checkpoint-open' || type === 'restore-open' || type === 'checkpoint-settle';

const unknown = (): FileRefusal => new FileRefusal('invalid_request', 'there is no such transfer');

const refuseVolume = (): never => {
  throw new FileRefusal('file_not_found', 'there is no shared volume here');
};
