/**
 * Output of a program as it comes, piece by piece, followed by the rest of the complete output: each byte once and in order.
 *
 * If output comes too fast, pieces of it are missing. A short output gets them at its end; a longer one continues after a mark.
 */
import { outputCharactersShown } from '#shared/domain/limits.ts';
import { unsureBytesOf } from '#shared/domain/output-offset.ts';

/**
 * Bytes of the text that was printed. The offsets of pieces count those of the output itself, of which the text has more where a byte was no
 * UTF-8: by `ahead`, and perhaps by `unsure` more since the last piece.
 */
export type Printed = { readonly bytes: number; readonly ahead?: number; readonly unsure?: number };
export const nothingPrinted: Printed = { bytes: 0 };

export type Piece = { readonly offset: number; readonly text: string };

export const nextPart = (
  printed: Printed,
  { offset, text }: Piece,
): { readonly printed: Printed; readonly text: string } => {
  const bytes = Buffer.from(text);
  const { ahead = 0, unsure = 0 } = printed;
  const latest = printed.bytes - ahead;
  const seen = Math.max(0, latest - unsure - offset);
  if (offset > latest || bytes.length <= seen) return { printed, text: '' };
  const total = printed.bytes + bytes.length - seen;
  const replaced = unsureBytesOf(text);
  const known = seen > 0 ? ahead + unsure : printed.bytes - offset;
  return {
    printed: {
      bytes: total,
      ...(known === 0 ? {} : { ahead: known }),
      ...(replaced === 0 ? {} : { unsure: replaced }),
    },
    text: bytes.subarray(seen).toString('utf8'),
  };
};

/** The complete output of more bytes than these has a gap of its own: what is missing here would not come. */
const completeBytesMax = 3 * outputCharactersShown;

export const followPieces = (show: (text: string) => void) => {
  let printed = nothingPrinted;
  let hasGap = false;
  return {
    add: (piece: Piece): void => {
      const { bytes, ahead = 0 } = printed;
      const missed = piece.offset - (bytes - ahead);
      if (missed > 0 && piece.offset > completeBytesMax) {
        hasGap = true;
        printed = { bytes: bytes + missed, ahead };
        show(gapText(missed));
      }
      const next = nextPart(printed, piece);
      printed = next.printed;
      show(next.text);
    },
    /** The rest, and whether all was printed then. */
    finish: (whole: string, isTruncated: boolean): { readonly text: string; readonly isWhole: boolean } => {
      const text = remaining(printed, whole, isTruncated);
      return { text, isWhole: !hasGap && !(isTruncated && gap.test(text)) };
    },
  };
};

const gapText = (missed: number, place = ''): string => `\n[... ${missed} bytes left out${place} ...]\n`;

/** With the place of the whole, where the sandbox has stored that. */
const gap = /\n\[\.\.\. (\d+) bytes left out(; [^\n]{1,300})? \.\.\.\]\n/;

/** The part of the complete output that was not printed yet. A long output has a gap between its first and last part. */
export const remaining = ({ bytes }: Printed, whole: string, isTruncated: boolean): string => {
  const left = isTruncated ? gap.exec(whole) : null;
  if (left === null) return Buffer.from(whole).subarray(bytes).toString('utf8');
  const head = Buffer.byteLength(whole.slice(0, left.index));
  if (bytes <= head) return Buffer.from(whole).subarray(bytes).toString('utf8');
  const tail = Buffer.from(whole.slice(left.index + left[0].length));
  const missed = head + Number(left[1]) - bytes;
  if (missed > 0) return `${gapText(missed, left[2])}${tail.toString('utf8')}`;
  return tail.subarray(-missed).toString('utf8');
};
