/**
 * Archive frames of files, and frames side by side in pieces, in memory that is used again for the next piece.
 *
 * At most as many bytes are read as the header says, so a file that grows while it is read has an end; a file that
 * shrinks is sent as it came, and one that vanished is marked as not whole. A large file of the shared volume is read
 * twice: its hash comes first, because the receiver needs it before the content and compares the two.
 * The server asks for a piece when it has the whole previous one, so its bytes may be overwritten; fresh buffers would pile
 * up faster than they are collected. Frames of the pipe (wire/frame.ts) have the form of the archive's (shared/contracts/archive.ts).
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import { encodeFrameStart } from '../wire/frame.ts';
import { codeOf } from './workspace-path.ts';

/** The payload is valid until the next frame is requested. */
export type Frame = { readonly header: ArchiveHeader; readonly payload?: Buffer };
export type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;

/** So that a piece of several frames stays under 256 KB. */
const contentBytesMax = 120 * 1024;
/** One buffer for all: a frame is copied before the next one is requested. */
const content = Buffer.allocUnsafeSlow(contentBytesMax);

export function* fileFrames(workspace: string, header: FileHeader): Generator<Frame> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(
      join(workspace, header.path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if (fstatSync(descriptor).isFile()) yield* contentFrames(descriptor, header);
    else yield* nothing(header);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'EACCES' || code === 'EPERM') yield { header: leftOut(header.path, code) };
    else yield* nothing(header);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function* contentFrames(descriptor: number, header: FileHeader): Generator<Frame> {
  yield { header };
  let size = 0;
  let isWhole = true;
  while (size < header.size) {
    const piece = readContent(descriptor, Math.min(contentBytesMax, header.size - size));
    isWhole = piece !== undefined;
    if (piece === undefined || piece.length === 0) break;
    size += piece.length;
    yield { header: { type: 'data' }, payload: piece };
  }
  yield { header: { type: 'file-end', size, isWhole } };
}

/** The next bytes, valid until the next are read; nothing when the disk fails. */
const readContent = (descriptor: number, bytesMax: number): Buffer | undefined => {
  try {
    return content.subarray(0, readSync(descriptor, content, 0, bytesMax, null));
  } catch {
    return undefined;
  }
};

function* nothing(header: FileHeader): Generator<Frame> {
  yield { header };
  yield { header: { type: 'file-end', size: 0, isWhole: false } };
}

const leftOut = (path: string, code: string): ArchiveHeader => ({
  type: 'left-out',
  path,
  reason: `it cannot be read: ${code}`,
});

const bytesPerPause = 32 * 1_048_576;

/** A file that cannot be hashed is sent without a hash; its frames give the reason. */
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

/** Undefined when it cannot be read: its frames give the reason. */
const openFile = (place: string): number | undefined => {
  try {
    return openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
};

const pieceBytesMax = 256 * 1024;

/** The bytes are valid until the next piece is made. */
type Piece = { readonly bytes: Buffer; readonly isLast: boolean };
export type Pieces = { readonly next: () => Piece; readonly close: () => void };

/** No frame is ready yet: the frames so far are sent, so that a piece never takes long. */
export const pause = Symbol('pause');

/** With one more frame a piece stays under `pieceBytesMax`. */
const pieceBytesMin = 128 * 1024;

/** Frames, made when their pieces are requested. */
export const inPieces = (frames: Generator<Frame | typeof pause>): Pieces => {
  const piece = createPieceBuffer();
  return {
    next() {
      for (piece.clear(); piece.bytes() < pieceBytesMin; ) {
        const frame = frames.next();
        if (frame.done) return { bytes: piece.take(), isLast: true };
        if (frame.value === pause) break;
        piece.add(frame.value);
      }
      return { bytes: piece.take(), isLast: false };
    },
    // Lets the file go that is being read.
    close: () => void frames.return(undefined),
  };
};

const createPieceBuffer = () => {
  const buffer = Buffer.allocUnsafeSlow(pieceBytesMax);
  let used = 0;
  const append = (bytes: Buffer): void => {
    if (used + bytes.length > pieceBytesMax) throw new Error('a piece over its bound');
    used += bytes.copy(buffer, used);
  };
  return {
    add({ header, payload }: Frame): void {
      append(encodeFrameStart(header, payload?.length ?? 0));
      if (payload !== undefined) append(payload);
    },
    bytes: (): number => used,
    take: (): Buffer => buffer.subarray(0, used),
    clear(): void {
      used = 0;
    },
  };
};
