/**
 * Output heard while a program ran, against the whole that its result brings: what is still to be printed.
 *
 * A piece may be missed, so pieces are printed only while they follow one another; offsets count bytes.
 */
export type Heard = { readonly bytes: number };
export const nothingHeard: Heard = { bytes: 0 };

export type Piece = { readonly offset: number; readonly text: string };

export const hear = (
  heard: Heard,
  { offset, text }: Piece,
): { readonly heard: Heard; readonly text: string } => {
  const bytes = Buffer.from(text);
  const isNext = offset <= heard.bytes && offset + bytes.length > heard.bytes;
  if (!isNext) return { heard, text: '' };
  return {
    heard: { bytes: offset + bytes.length },
    text: bytes.subarray(heard.bytes - offset).toString('utf8'),
  };
};

const gap = /\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n/;

/** A long output keeps its first and last part, with the gap said between them. */
export const unheard = ({ bytes }: Heard, whole: string, isTruncated: boolean): string => {
  const left = isTruncated ? gap.exec(whole) : null;
  if (left === null) return Buffer.from(whole).subarray(bytes).toString('utf8');
  const head = Buffer.byteLength(whole.slice(0, left.index));
  if (bytes <= head) return Buffer.from(whole).subarray(bytes).toString('utf8');
  const tail = Buffer.from(whole.slice(left.index + left[0].length));
  const missed = head + Number(left[1]) - bytes;
  if (missed > 0) return `\n[... ${missed} bytes left out ...]\n${tail.toString('utf8')}`;
  return tail.subarray(-missed).toString('utf8');
};
