/**
 * Tells a line that answers a question from one that was on its way when the question appeared. Pure.
 *
 * An answer was begun after the question, following a pause: a person who is in the middle of a sentence goes on typing,
 * and the rest of that sentence may be any word. And it ends late enough for the question to have been seen.
 */
export type Typing = {
  /** Epoch of any clock that only grows, in milliseconds. */
  readonly lastKeyAt?: number;
  /** The pause before the first key of this line; absent: no line is begun, or nothing came before. */
  readonly pauseMs?: number;
};

/** Long enough to see that something is asked. */
export const answerPauseMs = 1000;

export const nothingTyped: Typing = {};

/** A key; `isFirst`: the line was empty before it. */
export const keyTyped = (
  { lastKeyAt, pauseMs }: Typing,
  { at, isFirst }: { readonly at: number; readonly isFirst: boolean },
): Typing => {
  const pause = isFirst ? at - (lastKeyAt ?? Number.NEGATIVE_INFINITY) : pauseMs;
  return { lastKeyAt: at, ...(pause === undefined ? {} : { pauseMs: pause }) };
};

export const lineEnded = ({ lastKeyAt }: Typing): Typing => (lastKeyAt === undefined ? {} : { lastKeyAt });

/** True if a line that ends now answers the question that has been there since `askedAt`. */
export const isAnswer = (
  { pauseMs }: Typing,
  { askedAt, at }: { readonly askedAt: number; readonly at: number },
): boolean => pauseMs !== undefined && pauseMs >= answerPauseMs && at - askedAt >= answerPauseMs;
