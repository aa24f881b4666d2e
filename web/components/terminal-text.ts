/**
 * Terminal output as pieces of text: colours as classes, other escape sequences removed, lines bounded.
 *
 * Pure. Links, titles, cursor movements and hidden text are dropped or shown as plain text. A line rewritten by carriage
 * returns shows its last state.
 */
import anser from 'anser';
import { esc, withoutMovements } from './terminal-escapes.ts';

export type TerminalPiece = { readonly text: string; readonly classes: string };

const lineCharactersMax = 2000;
const linesMax = 2000;
/** Only the end of a longer output is processed. */
const charactersMax = 256 * 1024;

const controls = /[\p{Cc}\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;

export const boundedText = (output: string): { readonly text: string; readonly isCut: boolean } => {
  const end = output.length > charactersMax ? output.slice(-charactersMax) : output;
  const lines = end.split('\n');
  const shownLines = lines.length > linesMax ? lines.slice(-linesMax) : lines;
  const isLineCut = shownLines.some((line) => line.length > lineCharactersMax);
  const text = isLineCut ? shownLines.map(cutLine).join('\n') : shownLines.join('\n');
  return { text, isCut: end !== output || shownLines !== lines || isLineCut };
};

const cutLine = (line: string): string =>
  line.length > lineCharactersMax
    ? `${line.slice(0, lineCharactersMax)} […${line.length - lineCharactersMax} more characters]`
    : line;

export const terminalPieces = (output: string): readonly TerminalPiece[] => {
  const plain = withoutMovements(output).replaceAll('\r\n', '\n');
  const settled = plain.includes('\r') ? plain.split('\n').map(lastState).join('\n') : plain;
  if (!settled.includes(esc)) return [{ text: withoutControls(settled), classes: '' }];
  return anser
    .ansiToJson(settled, { use_classes: true, json: true, remove_empty: true })
    .map(({ content, fg, bg, decorations }) => ({
      text: withoutControls(content),
      classes: [fg, bg && `${bg}-ground`, ...decorations]
        .filter(
          (name) =>
            typeof name === 'string' &&
            /^(?:ansi-[a-z-]+|bold|dim|italic|underline|strikethrough)$/.test(name),
        )
        .join(' '),
    }))
    .filter(({ text }) => text !== '');
};

/** The last state of a line that was rewritten by carriage returns. */
const lastState = (line: string): string => line.split('\r').findLast((part) => part !== '') ?? '';

const withoutControls = (text: string): string =>
  text.replace(controls, (character) => (character === '\n' || character === '\t' ? character : ''));
