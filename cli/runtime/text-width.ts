/**
 * The columns that a text takes on a terminal: two for a wide character or an emoji, none for a mark on the one before.
 *
 * Widths are those of Node's own line editor, which has them from ICU, by characters as a reader counts them. Terminals differ in what they
 * join (a family of emoji, a flag); here it is one wide character.
 * https://nodejs.org/api/readline.html#rlgetcursorpos
 */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';

const plain = /^[\x20-\x7e]*$/;
const emoji = /^\p{RGI_Emoji}$/v;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** It measures the prompt that it would show, and reads nothing. */
const editor = createInterface({ input: new PassThrough() });
editor.close();

const columnsOfOne = (grapheme: string): number => {
  if (plain.test(grapheme)) return grapheme.length;
  if (emoji.test(grapheme)) return 2;
  editor.setPrompt(grapheme);
  return Math.min(editor.getCursorPos().cols, 2);
};

const partsOf = (text: string): readonly string[] =>
  Array.from(graphemes.segment(text), ({ segment }) => segment);

export const columnsOf = (text: string): number =>
  plain.test(text) ? text.length : partsOf(text).reduce((sum, part) => sum + columnsOfOne(part), 0);

export const padColumns = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)));

/** Ends in an ellipsis where it is longer; no character is cut in two. */
export const cutColumns = (text: string, columnsMax: number): string => {
  if (columnsOf(text) <= columnsMax) return text;
  let kept = '';
  let columns = 1;
  for (const part of partsOf(text)) {
    columns += columnsOfOne(part);
    if (columns > columnsMax) break;
    kept += part;
  }
  return `${kept}…`;
};
