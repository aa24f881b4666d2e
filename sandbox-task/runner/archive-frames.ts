/**
 * Archive frames of files, and frames side by side in pieces, in reused buffers.
 *
 * A header is of the file that is open then. At most as many bytes are read as it says, so a file that grows while it is read
 * has an end; a file that shrinks is sent as it came, and one that vanished is marked as not whole. A large file of the shared volume is read
 * twice: its hash comes first, because the receiver needs it before the content and compares the two.
 * The server asks for a piece when it has the whole previous one, so its bytes may be overwritten; fresh buffers would pile
 * up faster than they are collected. Frames of the pipe (wire/frame.ts) have the form of the archive's (shared/contracts/archive.ts).
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import { mtimeMsMax } from '#shared/domain/checkpoint.ts';
import { encodeFrameStart } from '../wire/frame.ts';
import type { Traits } from './file-index.ts';
import { codeOf } from './workspace-path.ts';

/** The payload is valid until the next frame is requested. */
export type Frame = { readonly header: ArchiveHeader; readonly payload?: Buffer };
export type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;

/** So that a piece of several frames stays under 256 KB. */
const contentBytesMax = 120 * 1024;
/** One buffer for all: a frame is copied before the next one is requested. */
const content = Buffer.allocUnsafeSlow(contentBytesMax);

/** The header describes the open file: since the walk its name may have become another file's. */
export function* fileFrames(
  folder: string,
  walked: FileHeader,
  hashedOver: number = Number.POSITIVE_INFINITY,
): Generator<Frame | typeof pause> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(
      join(folder, walked.path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const stat = fstatSync(descriptor, { bigint: true });
    if (!stat.isFile()) return yield* nothing(walked);
    const header = { ...walked, ...fileTraitsOf(stat) };
    // A file that cannot be hashed is sent without a hash; its frames give the reason.
    const sha256 = header.size > hashedOver ? yield* hashOf(descriptor, header.size) : undefined;
    yield* contentFrames(descriptor, sha256 === undefined ? header : { ...header, sha256 });
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'EACCES' || code === 'EPERM') yield { header: leftOut(walked.path, code) };
    else yield* nothing(walked);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export const fileTraitsOf = ({ mode, mtimeNs, size }: Traits) => ({
  mode: Number(mode & 0o777n),
  // Whole microseconds: what a JSON number keeps of the nanoseconds. Cut to what the archive takes.
  mtimeMs: Math.min(mtimeMsMax, Math.max(0, Number(mtimeNs / 1000n) / 1000)),
  size: Number(size),
});

function* contentFrames(descriptor: number, header: FileHeader): Generator<Frame> {
  yield { header };
  let size = 0;
  let isWhole = true;
  while (size < header.size) {
    const piece = readContent(descriptor, size, header.size);
    isWhole = piece !== undefined;
    if (piece === undefined || piece.length === 0) break;
    size += piece.length;
    yield { header: { type: 'data' }, payload: piece };
  }
  yield { header: { type: 'file-end', size, isWhole } };
}

/** The next bytes before `to`, valid until the next are read; nothing when the disk fails. */
const readContent = (descriptor: number, from: number, to: number): Buffer | undefined => {
  try {
    return content.subarray(0, readSync(descriptor, content, 0, Math.min(contentBytesMax, to - from), from));
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

function* hashOf(descriptor: number, size: number): Generator<typeof pause, string | undefined> {
  const hash = createHash('sha256');
  for (let done = 0, rested = 0; done < size; ) {
    const piece = readContent(descriptor, done, size);
    if (piece === undefined || piece.length === 0) return undefined;
    hash.update(piece);
    done += piece.length;
    if (done - rested < bytesPerPause) continue;
    rested = done;
    yield pause;
  }
  return hash.digest('hex');
}

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
