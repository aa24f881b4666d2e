/**
 * Output that an answer repeats: a fenced block of the language `output` whose text the terminal has already shown is replaced
 * by a reference to it.
 *
 * Any other text passes unchanged. Only text that may become such a block is held back until it ends.
 */
import { nextPart, type Streamed } from './streamed-text.ts';

export const pointer = '(the output above)\n';

const opening = /(?:^|\n)(`{3,})output\n/;
/** The start of a line that may become an opening. */
const mayOpen = /(?:^|\n)(`+|`{3,}(?:o|ou|out|outp|outpu|output))$/;

type OutputFold = {
  /** The part of the streamed text that can be shown now. */
  readonly take: (piece: string) => string;
  /** The rest that was held, at the end of a message. */
  readonly flush: () => string;
};

export const makeOutputFold = (wasShown: (output: string) => boolean): OutputFold => {
  let held = '';
  let isLineStart = true;

  const pass = (words: string): string => {
    if (words !== '') isLineStart = words.endsWith('\n');
    return words;
  };

  /** The start of the match in the held text; a match at its very start counts only at the start of a line. */
  const find = (pattern: RegExp): { readonly at: number; readonly match: RegExpExecArray } | undefined => {
    const match = pattern.exec(isLineStart ? held : ` ${held}`);
    if (match === null) return undefined;
    const at = match.index + (match[0].startsWith('\n') ? 1 : 0) - (isLineStart ? 0 : 1);
    return { at, match };
  };

  const shownNow = (): string => {
    let shown = '';
    for (;;) {
      const open = find(opening);
      if (open === undefined) {
        const from = find(mayOpen)?.at ?? held.length;
        shown += pass(held.slice(0, from));
        held = held.slice(from);
        return shown;
      }
      const [, fence = ''] = open.match;
      const start = open.at + `${fence}output\n`.length;
      const closing = new RegExp(`(?<=\n)${fence}\n`).exec(held.slice(start));
      shown += pass(held.slice(0, open.at));
      if (closing === null) {
        held = held.slice(open.at);
        return shown;
      }
      const stop = start + closing.index + closing[0].length;
      const isRepeated = wasShown(held.slice(start, start + closing.index).trimEnd());
      shown += pass(isRepeated ? pointer : held.slice(open.at, stop));
      held = held.slice(stop);
    }
  };

  const take = (piece: string): string => {
    held += piece;
    return shownNow();
  };

  /** The last line of a message may have no end: a fence may close with it. */
  const flush = (): string => {
    const isOpen = held !== '' && !held.endsWith('\n');
    if (isOpen) held += '\n';
    const rest = shownNow() + held;
    held = '';
    isLineStart = true;
    return isOpen && !rest.endsWith(pointer) ? rest.slice(0, -1) : rest;
  };

  return { take, flush };
};

type Piece = { readonly messageId: string; readonly offset: number; readonly text: string };

/** Answers as they stream: of each piece, and of the whole at the end, what was not shown yet. */
export const makeAnswers = (wasShown: (output: string) => boolean) => {
  const messages = new Map<string, Streamed>();
  const fold = makeOutputFold(wasShown);
  const part = ({ messageId, offset, text }: Piece): string =>
    fold.take(nextPart(messages, messageId, { offset, words: text }));
  return {
    part,
    whole: (piece: Omit<Piece, 'offset'>): string => part({ ...piece, offset: 0 }) + fold.flush(),
  };
};
