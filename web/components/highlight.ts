/** Code highlighting; the highlighter is loaded with the first code block. */
import { type Ref, shallowRef, watchEffect } from 'vue';
import type { CodePiece } from './highlighter.ts';

/** Longer code is not highlighted. */
const highlightedCharactersMax = 40_000;

type Highlighter = (code: string, language: string) => readonly CodePiece[] | undefined;

const highlighter = shallowRef<Highlighter>();
let isFetched = false;

const fetchHighlighter = async (): Promise<void> => {
  isFetched = true;
  highlighter.value = (await import('./highlighter.ts')).piecesOf;
};

/** The pieces of the code: one plain piece until the highlighter has loaded. */
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
