/** The output of a process in frames: pieces that follow each other are one frame as long as they fit into it. */
import { frameBytesMax } from './limits.ts';
import { utf8Bytes } from './text.ts';

export type OutputPiece = {
  readonly stream: 'stdout' | 'stderr' | 'pty';
  /** In bytes of the log. */
  readonly offset: number;
  readonly bytes: number;
  readonly text: string;
};

/** Of a frame, for all but its text, in bytes. */
const headBytes = 512;

/** Bytes of output for which a frame has room, however they are written as JSON: `\u001b` is six bytes for one. */
export const pieceBytesMax = Math.floor((frameBytesMax - headBytes) / 6);

export const joinPieces = (pieces: readonly OutputPiece[]): readonly OutputPiece[] => {
  const joined: OutputPiece[] = [];
  let room = 0;
  for (const piece of pieces) {
    const last = joined.at(-1);
    const size = utf8Bytes(JSON.stringify(piece.text));
    if (last !== undefined && size <= room && isContinued(last, piece)) {
      joined[joined.length - 1] = {
        ...last,
        bytes: last.bytes + piece.bytes,
        text: `${last.text}${piece.text}`,
      };
      room -= size;
    } else {
      joined.push(piece);
      room = frameBytesMax - headBytes - size;
    }
  }
  return joined;
};

const isContinued = (one: OutputPiece, next: OutputPiece): boolean =>
  one.stream === next.stream && one.offset + one.bytes === next.offset;
