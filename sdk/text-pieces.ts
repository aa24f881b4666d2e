/**
 * Pieces of streamed text, each once: after a lost connection the text of an answer that is on its way comes from its beginning. Pieces
 * behind a gap are passed on as they are.
 */
import type { Frame } from './frames.ts';

/** Returns the frame without the text that was passed on before; undefined where nothing is left. */
export const openTextPieces = (): ((frame: Frame) => Frame | undefined) => {
  const ends: Record<string, number> = {};
  return (frame) => {
    if (frame.type !== 'delta' && frame.type !== 'reasoning_delta') return frame;
    const { messageId, offset, text } = frame.data;
    const key = frame.type + messageId;
    const end = ends[key] ?? 0;
    const rest = text.slice(end - offset);
    if (offset > end) return frame;
    ends[key] = end + rest.length;
    return rest === '' ? undefined : { ...frame, data: { messageId, offset: end, text: rest } };
  };
};
