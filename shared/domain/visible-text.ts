/**
 * Text as a person must see it before approving it: each character that is drawn as nothing, as a blank that is
 * no space, or into its neighbours is written by its number, `⟦U+200B⟧`. Nothing is left out, and the original
 * can be recovered: the brackets of the marker, and those that look like them, are written by their numbers too.
 *
 * Tab, line feed and space stay. Letters that look like others stay, too: they are drawn as what they are.
 */

/**
 * All of category C (controls, formats, half surrogates, private use, unassigned, noncharacters: no font promises a shape),
 * all separators but the space, and what Unicode lets a renderer leave out.
 */
const categories = String.raw`(?![\t\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]`;
/** Drawn empty, though of other categories: braille, object replacement, hieroglyphs, Khitan filler, null notehead. */
const blanks = String.raw`[\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}\u{1D159}]`;
/** Hangul vowels and finals to be joined: a terminal gives them no cell. Text in the usual form (NFC) has none. */
const joiningHangul = String.raw`[\u1160-\u11FF\uD7B0-\uD7FF]`;
/** The marker's own, and the white square brackets that are drawn like them. */
const brackets = String.raw`[\u27E6\u27E7\u301A\u301B]`;

const hidden = `${categories}|${blanks}|${joiningHangul}|${brackets}`;
const isHidden = new RegExp(`^(?:${hidden})$`, 'u');
const hiddenOrMarked = new RegExp(String.raw`${hidden}|\p{L}\p{M}+|\p{M}`, 'gu');

/** More than any script stacks on a letter; beyond, marks only cover what is around them. */
const marksPerLetterMax = 4;
const letter = /^\p{L}/u;
/** The characters of commands and paths: on these, a mark of another script is mostly drawn as nothing. */
const plainLetter = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]/u;
const commonMark = /^[\p{Script=Inherited}\p{Script=Cyrillic}]/u;

/** Rewrites each hidden character with the caller's function; `number` is its code point. */
export const replaceHidden = (text: string, write: (number: number) => string): string => {
  const written = (character: string): string => write(character.codePointAt(0) ?? 0);
  return text.replace(hiddenOrMarked, (found) => {
    if (!letter.test(found) || isHidden.test(found)) return written(found);
    const [base = '', ...marks] = found;
    const shown = shownMarks(base, marks);
    return base + marks.map((mark, index) => (index < shown ? mark : written(mark))).join('');
  });
};

/** The number of marks that stay on their letter: none from the first invisible one on. */
const shownMarks = (base: string, marks: readonly string[]): number => {
  const isPlain = plainLetter.test(base);
  const first = marks.findIndex((mark) => isHidden.test(mark) || (isPlain && !commonMark.test(mark)));
  return Math.min(first < 0 ? marks.length : first, marksPerLetterMax);
};

const digitsMin = 4;
const marker = (number: number): string =>
  `⟦U+${number.toString(16).toUpperCase().padStart(digitsMin, '0')}⟧`;

export const visibleText = (text: string): string => replaceHidden(text, marker);

/** The same for a text of one line: its line feeds and tabs are written by their numbers, too. */
export const visibleLine = (text: string): string =>
  visibleText(text).replace(/[\t\n]/g, (character) => marker(character.charCodeAt(0)));

/**
 * Of a name, only control characters, which a terminal obeys, and those that turn the direction of a text
 * (https://www.unicode.org/reports/tr9/, 2), which make it look like another: C0, DEL and C1, and the bidirectional controls.
 */
const nameHidden = /[\p{Cc}\p{Bidi_Control}]/u;

export const isPlainName = (text: string): boolean => !nameHidden.test(text);

export const plainNameRule = 'must have no control characters and none that change the direction of text';
