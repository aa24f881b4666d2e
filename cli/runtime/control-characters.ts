/**
 * Removes control sequences from foreign text: a server, a model or a program must not move the cursor, rename the
 * window or fill the clipboard of a terminal.
 *
 * Whole sequences are removed from text to read; an unfinished one ends with its line, so that it hides no more. Text
 * to decide on loses nothing: that is for `visibleText` of the domain.
 */
import { replaceHidden } from '#shared/domain/visible-text.ts';

type Mode = 'text' | 'escape' | 'sequence' | 'string' | 'string-escape';
export type Stripper = (text: string) => string;

const escapeCharacter = '\x1b';
/** OSC, DCS, SOS, PM and APC take a string; CSI takes parameters (ECMA-48, section 8.3). */
const stringIntroducers = new Set([']', 'P', 'X', '^', '_']);
const c1Strings = new Set(['\x9d', '\x90', '\x98', '\x9e', '\x9f']);
const isFinal = (character: string): boolean => character >= '@' && character <= '~';
const isIntermediate = (character: string): boolean => character >= ' ' && character <= '/';
/** Marks and isolates that change the direction of text, and separators at which some terminals break lines. */
const isDirectional = (character: string): boolean =>
  /[\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(character);
const isControl = (character: string): boolean =>
  (character < ' ' && character !== '\n' && character !== '\t') ||
  (character >= '\x7f' && character <= '\x9f');

const afterEscape = (character: string): Mode => {
  if (character === '[') return 'sequence';
  if (stringIntroducers.has(character)) return 'string';
  return isIntermediate(character) ? 'escape' : 'text';
};

const introduced = (character: string): Mode => {
  if (character === escapeCharacter) return 'escape';
  if (character === '\x9b') return 'sequence';
  return c1Strings.has(character) ? 'string' : 'text';
};

const inSequence = (mode: Mode, character: string): Mode => {
  if (character === escapeCharacter) return mode === 'string' ? 'string-escape' : 'escape';
  if (character === '\x18' || character === '\x1a') return 'text';
  if (mode === 'escape') return afterEscape(character);
  if (mode === 'sequence') return isFinal(character) ? 'text' : 'sequence';
  if (mode === 'string-escape') return character === '\\' ? 'text' : afterEscape(character);
  return character === '\x07' || character === '\x9c' ? 'text' : 'string';
};

/** For text in chunks, between which a sequence may be cut. A lone carriage return breaks the line. */
export const makeStripper = (): Stripper => {
  let mode: Mode = 'text';
  let isAfterReturn = false;
  const take = (character: string): string => {
    const followsReturn = isAfterReturn;
    isAfterReturn = character === '\r';
    if (character === '\n' || character === '\r') {
      mode = 'text';
      return character === '\n' && followsReturn ? '' : '\n';
    }
    if (mode !== 'text') {
      mode = inSequence(mode, character);
      return '';
    }
    mode = introduced(character);
    return isControl(character) || isDirectional(character) ? '' : character;
  };
  return (text) => Array.from(text, take).join('');
};

export const stripControls: Stripper = (text) => makeStripper()(text);

const unitDigits = 4;
const jsonEscape = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(unitDigits, '0')}`;

/** JSON of the value with every invisible character escaped, so that no control reaches a terminal. */
export const toJson = (value: unknown, indent?: number): string =>
  replaceHidden(JSON.stringify(value, null, indent), (number) =>
    String.fromCodePoint(number).split('').map(jsonEscape).join(''),
  );
