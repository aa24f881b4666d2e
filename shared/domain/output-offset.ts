/** Offsets of pieces of output: they count the bytes of the program, although a piece is text. */

/**
 * Bytes by which a piece may have ended sooner than its text: a replacement character has three, and may stand for one byte that
 * is no UTF-8.
 */
export const unsureBytesOf = (text: string): number => 2 * (text.split('\ufffd').length - 1);
