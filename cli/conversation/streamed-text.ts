/** Texts that stream in pieces: of each piece the part that was not shown yet, without terminal controls. */
import { makeStripper, type Stripper } from '../runtime/control-characters.ts';

export type Streamed = { readonly shown: number; readonly strip: Stripper };

/** The part of a piece after the shown text; a piece after a gap is left to the complete text. */
export const nextPart = (
  known: Map<string, Streamed>,
  key: string,
  piece: { readonly offset: number; readonly words: string },
): string => {
  const { shown, strip } = known.get(key) ?? { shown: 0, strip: makeStripper() };
  const end = piece.offset + piece.words.length;
  if (piece.offset > shown || end <= shown) return '';
  known.set(key, { shown: end, strip });
  return strip(piece.words.slice(shown - piece.offset));
};
