/**
 * A large file with its hash in front: what stores it must know the hash before it has the content.
 *
 * The file is read twice. What it is when it is read the second time decides: whoever gets it compares.
 * Hashing pauses now and then, so that a piece of the archive is never long in coming and output of running
 * calls goes on.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { contentBytesMax, type FileHeader, type Frame, fileFrames, readContent } from './file-frames.ts';
import { pause } from './piece-buffer.ts';

const bytesPerPause = 32 * 1_048_576;

/** What cannot be hashed comes without a hash; its content says why. */
export function* hashedFileFrames(folder: string, header: FileHeader): Generator<Frame | typeof pause> {
  const sha256 = yield* hashOf(join(folder, header.path), header.size);
  yield* fileFrames(folder, sha256 === undefined ? header : { ...header, sha256 });
}

function* hashOf(place: string, size: number): Generator<typeof pause, string | undefined> {
  const descriptor = openFile(place);
  if (descriptor === undefined) return undefined;
  try {
    if (!fstatSync(descriptor).isFile()) return undefined;
    const hash = createHash('sha256');
    for (let done = 0, rested = 0; done < size; ) {
      const piece = readContent(descriptor, Math.min(contentBytesMax, size - done));
      if (piece === undefined || piece.length === 0) return undefined;
      hash.update(piece);
      done += piece.length;
      if (done - rested < bytesPerPause) continue;
      rested = done;
      yield pause;
    }
    return hash.digest('hex');
  } finally {
    closeSync(descriptor);
  }
}

/** Nothing when it cannot be read: its frames say the reason. */
const openFile = (place: string): number | undefined => {
  try {
    return openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
};
