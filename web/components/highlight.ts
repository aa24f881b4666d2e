/** Highlighted code, once the highlighter is there: it is fetched with the first code that is shown. */
import { type Ref, shallowRef, watchEffect } from 'vue';
import type { CodePiece } from './code-piece.ts';

/** More than this is shown as it is: nobody reads it for its colours. */
const highlightedCharactersMax = 40_000;

type Highlighter = (code: string, language: string) => readonly CodePiece[] | undefined;

const highlighter = shallowRef<Highlighter>();
let isFetched = false;

const fetchHighlighter = async (): Promise<void> => {
  isFetched = true;
  highlighter.value = (await import('./highlighter.ts')).piecesOf;
};

/** The pieces of the code; all of it as one while it cannot be told apart. */
export const useHighlight = (
  source: () => { readonly code: string; readonly language: string },
): Ref<readonly CodePiece[]> => {
  const pieces = shallowRef<readonly CodePiece[]>([]);
  watchEffect(() => {
    const { code, language } = source();
    const isWorthIt = language !== '' && code.length <= highlightedCharactersMax;
    if (isWorthIt && !isFetched) void fetchHighlighter();
    const found = isWorthIt ? highlighter.value?.(code, language) : undefined;
    pieces.value = found ?? [{ text: code, scope: '' }];
  });
  return pieces;
};
