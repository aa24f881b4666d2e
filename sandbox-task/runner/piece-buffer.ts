/**
 * The piece buffer: archive frames side by side, in memory that is used again for the next piece.
 *
 * The server asks for a piece when it has the last one whole, so nothing still needs the old bytes; fresh
 * buffers of this size would pile up faster than they are collected. The pipe's frames (wire/frame.ts) have
 * the form of the archive's (shared/contracts/archive.ts).
 */
import { encodeFrameStart } from '../wire/frame.ts';
import type { Frame } from './file-frames.ts';

const pieceBytesMax = 256 * 1024;

/** The bytes are good until the next piece is made. */
export type Piece = { readonly bytes: Buffer; readonly isLast: boolean };
export type Pieces = { readonly next: () => Piece; readonly close: () => void };

/** Says that no frame is ready yet: what there is goes out, so that nobody waits too long for a piece. */
export const pause = Symbol('pause');

/** With one more frame a piece stays under `pieceBytesMax`. */
const pieceBytesMin = 128 * 1024;

/** Frames, made as their pieces are asked for. */
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
