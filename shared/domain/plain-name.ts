/**
 * A name that may be shown as it is: without control characters, which a terminal obeys, and without those that
 * turn the direction of a text (https://www.unicode.org/reports/tr9/, 2), which make it look like another.
 */

/** C0, DEL and C1, and the bidirectional controls. */
const hidden = /[\p{Cc}\p{Bidi_Control}]/u;

export const isPlainName = (text: string): boolean => !hidden.test(text);

export const plainNameRule = 'must have no control characters and none that turn the direction of text';
