/**
 * Text as a person must see it before saying yes to it: characters that are invisible or turn the direction of text
 * are shown by their number, and nothing is left out. Pure.
 */

/** Control characters but tab and line break, and all that formats without a shape: bidi marks, zero widths. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const isShown = new Set(['\t', '\n']);

export const showHidden = (text: string): string =>
  text.replace(hidden, (character) => {
    if (isShown.has(character)) return character;
    const number = character.codePointAt(0) ?? 0;
    return `⟦U+${number.toString(16).toUpperCase().padStart(4, '0')}⟧`;
  });
