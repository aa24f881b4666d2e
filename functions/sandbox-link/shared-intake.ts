/**
 * Reads what changed in a shared volume and stores it, each file as an object of its own, as it comes.
 *
 * The sandbox is not believed: an archive that is out of order is refused, and the bounds hold here too. A sandbox
 * that does not know what was stored sends everything: then only what is not there, or is newer than what is there,
 * is written.
 */
import type { SharedBucket } from '#shared/adapters/aws/shared-bucket.ts';
import type { ArchiveFrame, ArchiveHeader } from '#shared/contracts/archive.ts';
import type { LeftOut } from '#shared/domain/checkpoint.ts';
import { openBoundedWork } from './bounded-work.ts';
import { addData, closeFile, openFile } from './shared-intake-file.ts';
import { claimPath, type Intake, isNews, leaveOut, placeOf, refuse } from './shared-intake-state.ts';
import { keyOf, type SharedEntry } from './shared-object.ts';

export type SharedTaken = {
  readonly files: number;
  readonly bytes: number;
  /** Keys of what is gone. */
  readonly removed: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** False: the archive named nothing. */
  readonly hasNews: boolean;
};

/** Objects that are written at once; each holds at most `wholeFileBytesMax` in memory. */
const putsAtOnceMax = 8;

/** Throws an `AppError` when the archive is to be refused, any other error when it broke off; what was written stays. */
export const takeShared = async (
  frames: AsyncIterable<ArchiveFrame>,
  { bucket, prefix }: { readonly bucket: SharedBucket; readonly prefix: string },
): Promise<SharedTaken> => {
  const intake: Intake = {
    ...{ bucket, prefix, work: openBoundedWork(putsAtOnceMax) },
    ...{ paths: new Set<string>(), removed: [], leftOut: [], phase: 'before', isFull: true },
    ...{ file: undefined, files: 0, bytes: 0, writtenBytes: 0 },
  };
  try {
    for await (const frame of frames) await takeFrame(intake, frame);
    if (intake.phase !== 'after') throw new Error('the archive ends without its end');
    await intake.work.end();
  } catch (cause) {
    await intake.file?.upload?.abort().catch(() => undefined);
    await intake.work.abandon();
    throw cause;
  }
  const { files, writtenBytes, removed, leftOut, paths } = intake;
  return { files, bytes: writtenBytes, removed, leftOut, hasNews: paths.size > 0 };
};

const takeFrame = async (intake: Intake, { header, payload }: ArchiveFrame): Promise<void> => {
  refuseDisorder(intake, header.type);
  switch (header.type) {
    case 'begin':
      intake.phase = 'within';
      intake.isFull = header.isFull;
      return;
    case 'directory':
      claimPath(intake, header.path);
      return putEmpty(intake, header.path, { type: 'directory', mode: header.mode });
    case 'symlink':
      claimPath(intake, header.path);
      return putEmpty(intake, header.path, { type: 'symlink', target: header.target });
    case 'file':
      return openFile(intake, header);
    case 'data':
      return addData(intake, payload);
    case 'file-end':
      return closeFile(intake, header);
    case 'removed':
      claimPath(intake, header.path);
      return addRemoved(intake, header.path);
    case 'left-out':
      return leaveOut(intake, header.path, header.reason);
    case 'end':
      intake.phase = 'after';
      return;
  }
};

const refuseDisorder = ({ phase, file }: Intake, type: ArchiveHeader['type']): void => {
  const wanted = type === 'begin' ? 'before' : 'within';
  const isOfFile = type === 'data' || type === 'file-end';
  if (phase !== wanted || isOfFile !== (file !== undefined)) throw refuse(`a frame ${type} is out of place`);
};

const addRemoved = (intake: Intake, path: string): void => {
  if (intake.isFull) throw refuse('something is gone from what is not known');
  const key = keyOf(intake.prefix, path);
  if (key !== undefined) intake.removed.push(key);
};

const putEmpty = (intake: Intake, path: string, entry: SharedEntry): Promise<void> | undefined => {
  const found = placeOf(intake, path, entry);
  if (found === undefined) return undefined;
  return intake.work.begin(async () => {
    if (await isNews(intake, found.key, entry))
      await intake.bucket.put(found.key, { words: found.words, bytes: new Uint8Array(0) });
  });
};
