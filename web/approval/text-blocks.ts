/**
 * A text as what is drawn of it, in blocks that a browser lays out one by one: a text of a megabyte in one line is many
 * blocks, and no character is left out. Pure.
 *
 * Characters that cannot be seen, tabs and line ends are parts of their own, so that they can be drawn as marks.
 */
import { replaceHidden } from '#shared/domain/visible-text.ts';
import type { CodePiece } from '../components/code-piece.ts';

export type TextPart = {
  readonly kind: 'text' | 'tab' | 'line-end' | 'hidden';
  /** As it is in the text; of a hidden one, too. */
  readonly text: string;
  /** Of the highlighter; empty for none. */
  readonly scope: string;
};

export type TextBlock = readonly TextPart[];

const blockCharactersMax = 4000;
/** From here on, a block ends at the next line end. */
const blockCharactersMin = 2000;
const blockLinesMax = 60;

/** Private-use characters are hidden ones themselves: none is left in the text beside those written here. */
const open = '\uE000';
const close = '\uE001';
const token = new RegExp(`${open}([0-9a-f]+)${close}|\\n|\\t|[^${open}\\n\\t]+`, 'g');
const hexadecimal = 16;

const markHidden = (text: string): string =>
  replaceHidden(text, (number) => `${open}${number.toString(hexadecimal)}${close}`);

/** True if every character of a text is drawn as itself. */
export const isPlain = (text: string): boolean => !markHidden(text).includes(open);

/** The pieces make up the text; they count only where nothing of it is hidden. */
export function* blocksOf(text: string, pieces: readonly CodePiece[] = []): Generator<TextBlock> {
  let block: TextPart[] = [];
  let characters = 0;
  let lines = 0;
  for (const part of partsOf(text, pieces)) {
    block.push(part);
    characters += part.text.length;
    if (part.kind === 'line-end') lines += 1;
    const isFull = characters >= blockCharactersMax || lines >= blockLinesMax;
    if (!isFull && !(part.kind === 'line-end' && characters >= blockCharactersMin)) continue;
    yield block;
    block = [];
    characters = 0;
    lines = 0;
  }
  if (block.length > 0) yield block;
}

function* partsOf(text: string, pieces: readonly CodePiece[]): Generator<TextPart> {
  const isColoured = isPlain(text) && pieces.map((piece) => piece.text).join('') === text;
  for (const piece of isColoured ? pieces : [{ text: markHidden(text), scope: '' }]) yield* partsIn(piece);
}

function* partsIn({ text, scope }: CodePiece): Generator<TextPart> {
  for (const [found, number] of text.matchAll(token)) {
    if (number !== undefined)
      yield { kind: 'hidden', text: String.fromCodePoint(Number.parseInt(number, hexadecimal)), scope: '' };
    else if (found === '\n') yield { kind: 'line-end', text: found, scope: '' };
    else if (found === '\t') yield { kind: 'tab', text: found, scope: '' };
    else yield* shortened({ text: found, scope });
  }
}

/** A long line in parts that fit a block; a pair of surrogates stays together. */
function* shortened({ text, scope }: CodePiece): Generator<TextPart> {
  let start = 0;
  while (start < text.length) {
    const cut = start + blockCharactersMin;
    const end = /[\uD800-\uDBFF]/.test(text.charAt(cut - 1)) ? cut + 1 : cut;
    yield { kind: 'text', text: text.slice(start, end), scope };
    start = end;
  }
}
