/**
 * Pieces of streamed text, each once: after a lost connection the text of an answer that is on its way comes from its beginning. Pieces
 * behind a gap are passed on as they are.
 */
import type { Frame } from './frames.ts';

export type TextPieces = {
  /** The frame without the text that was passed on before; undefined where nothing is left. */
  readonly rest: (frame: Frame) => Frame | undefined;
};

export const openTextPieces = (): TextPieces => {
  const ends = new Map<string, number>();
  return {
    rest: (frame) => {
      if (frame.type !== 'delta' && frame.type !== 'reasoning_delta') return frame;
      const { messageId, offset, text } = frame.data;
      const key = `${frame.type} ${messageId}`;
      const end = ends.get(key) ?? 0;
      if (offset > end) return frame;
      const rest = text.slice(end - offset);
      if (rest === '') return undefined;
      ends.set(key, end + rest.length);
      return { ...frame, data: { messageId, offset: end, text: rest } };
    },
  };
};
