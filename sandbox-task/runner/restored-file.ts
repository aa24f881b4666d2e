/**
 * One file that is being restored: a partial until its hash has been seen to be right.
 *
 * A disk that fails while it is written makes the file missing at its end, not before, because the rest of
 * its content comes anyway.
 */
import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import type { FileHeader } from './file-frames.ts';
import { partialOf } from './partial-name.ts';

export type RestoredFile = {
  readonly path: string;
  readonly write: (bytes: Buffer) => void;
  /** Gives it its name, or throws the reason why not; never leaves the partial behind. */
  readonly finish: (isWhole: boolean) => BigIntStats;
};

export const openRestoredFile = (header: FileHeader, place: string): RestoredFile => {
  const partial = partialOf(place);
  const descriptor = openSync(
    partial,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    0o600,
  );
  const hash = createHash('sha256');
  let failure: Error | undefined;
  const name = (isWhole: boolean): BigIntStats => {
    if (failure !== undefined) throw failure;
    if (!isWhole) throw new Error('its content is not whole');
    if (hash.digest('hex') !== header.sha256) throw new Error('its content is not what was saved');
    fchmodSync(descriptor, header.mode);
    const modifiedAt = (header.mtimeMs + halfMicrosecondMs) / 1000;
    futimesSync(descriptor, modifiedAt, modifiedAt);
    renameSync(partial, place);
    return lstatSync(place, { bigint: true });
  };
  return {
    path: header.path,
    write(bytes) {
      hash.update(bytes);
      try {
        writeAll(descriptor, bytes);
      } catch (cause) {
        failure ??= cause as Error;
      }
    },
    finish(isWhole) {
      try {
        return name(isWhole);
      } catch (cause) {
        rmSync(partial, { force: true });
        throw cause;
      } finally {
        closeSync(descriptor);
      }
    },
  };
};

/** A double of seconds is a fraction of a microsecond off: without this, times would lose one at each restore. */
const halfMicrosecondMs = 0.0005;

const writeAll = (descriptor: number, bytes: Buffer): void => {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done);
  }
};
