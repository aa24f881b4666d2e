/**
 * Typed text on its way into frames: joined while a frame is due, split where it is long, and never faster than a connection
 * may send.
 */

/** Characters of one frame: at most six bytes each as JSON, and a frame has 30 KB. */
const frameCharactersMax = 4000;
/** Under the limit of 50 frames and 64 KB a second. */
const frameMsMin = 30;
const bytesPerMs = 48;

export type TerminalInput = {
  readonly type: (text: string) => void;
  /** Drops what waits; true when there was something. */
  readonly clear: () => boolean;
};

/** `send` is called with one frame's text after the other. */
export const openTerminalInput = (send: (text: string) => void): TerminalInput => {
  let waiting = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = (): void => {
    timer = undefined;
    if (waiting === '') return;
    const text = firstPart(waiting);
    waiting = waiting.slice(text.length);
    send(text);
    const bytes = new TextEncoder().encode(text).length;
    timer = setTimeout(next, Math.max(frameMsMin, bytes / bytesPerMs));
  };
  return {
    type: (text) => {
      waiting += text;
      if (timer === undefined) next();
    },
    clear: () => {
      const wasWaiting = waiting !== '';
      waiting = '';
      return wasWaiting;
    },
  };
};

/** Without half of a character at its end. */
const firstPart = (text: string): string => {
  if (text.length <= frameCharactersMax) return text;
  const part = text.slice(0, frameCharactersMax);
  return /[\uD800-\uDBFF]$/.test(part) ? part.slice(0, -1) : part;
};
