/**
 * Formulas in Markdown: `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` on their own. Pure.
 *
 * A dollar is a sign of money and of variables, too. As in Pandoc, the first dollar of a formula has no space after it, the
 * last one no space before it and no letter or digit after it. Words without a sign of TeX between two dollars are prose.
 */
import type { TokenizerAndRendererExtension } from 'marked';

export type MathsToken = {
  readonly type: 'maths';
  readonly raw: string;
  readonly tex: string;
  /** A formula on lines of its own. */
  readonly isDisplay: boolean;
};

/**
 * Longer text is no formula; the limit also bounds the search for its end, as does the next beginning. A pair of backslashes
 * ends a row of TeX: what follows it begins nothing.
 */
const blockForms = [
  /^ {0,3}\$\$(?!\$)((?:(?!\n[ \t]*\n)[^$]){1,4000}?)\$\$[ \t]*(?:\n+|$)/,
  /^ {0,3}\\\[((?:\\\\|(?!\n[ \t]*\n|\\[[\]])[\s\S]){1,4000})\\\][ \t]*(?:\n+|$)/,
];
/**
 * The next line that begins a whole formula. A paragraph ends here, and the reader looks at all of the rest for each
 * paragraph: a line that only looks like a beginning must not end one.
 */
const nextBlock = new RegExp(blockForms.map(({ source }) => `(?<=\\n)(?:${source.slice(1)})`).join('|'));
const displayForms = [
  /^\$\$(?!\$)((?:(?!\n[ \t]*\n)[^$]){1,4000}?)\$\$(?!\$)/,
  /^\\\[((?:\\\\|(?!\n[ \t]*\n|\\[[\]])[\s\S]){1,4000})\\\]/,
];
const dollars = /^\$(?![\s$])((?:\\[^\n]|[^$\\`\n]){1,1000})(?<!\s)\$(?![\w$])/;
const parentheses = /^\\\(((?:\\\\|(?!\n[ \t]*\n|\\[()])[\s\S]){1,1000})\\\)/;

/** `$5 or 6$` and the like. */
const isProse = (tex: string): boolean => !/[\\^_={}]/.test(tex) && /[A-Za-z]{2}/.test(tex) && /\s/.test(tex);

const firstOf = (forms: readonly RegExp[], source: string): RegExpExecArray | null =>
  forms.map((form) => form.exec(source)).find((found) => found !== null) ?? null;

const tokenOf = (found: RegExpExecArray | null, isDisplay: boolean): MathsToken | undefined => {
  const tex = found?.[1]?.trim();
  return found === null || !tex ? undefined : { type: 'maths', raw: found[0], tex, isDisplay };
};

const inlineToken = (source: string): MathsToken | undefined => {
  const display = tokenOf(firstOf(displayForms, source), true);
  if (display !== undefined) return display;
  const token = tokenOf(dollars.exec(source), false);
  return token === undefined || isProse(token.tex) ? tokenOf(parentheses.exec(source), false) : token;
};

const indexOf = (source: string, begin: RegExp): number | undefined => {
  const index = source.search(begin);
  return index < 0 ? undefined : index;
};

export const mathsSyntax: readonly TokenizerAndRendererExtension[] = [
  {
    name: 'maths',
    level: 'block',
    start: (source) => indexOf(source, nextBlock),
    tokenizer: (source) => tokenOf(firstOf(blockForms, source), true),
  },
  {
    name: 'maths-in-line',
    level: 'inline',
    start: (source) => indexOf(source, /(?<![\w$\\])\$(?:\$(?!\$)|(?![\s$]))|\\[([]/),
    tokenizer: inlineToken,
  },
];
