/**
 * Text as a reader wants it: paragraphs, fenced code, and within a paragraph code and bold.
 *
 * Pure, and no more of Markdown than that: the rest reads well as it is. The result is data; whoever shows
 * it makes text nodes of it, so nothing in it can become an element.
 */

/**
 * @typedef {{ readonly kind: 'text' | 'code' | 'strong', readonly text: string }} Span
 * @typedef {{ readonly kind: 'paragraph', readonly spans: readonly Span[] }
 *   | { readonly kind: 'code', readonly language: string, readonly text: string }} Block
 */

const fence = /^```([\w+-]*)[^\n]*\n([\s\S]*?)(?:^```[^\S\n]*$|(?![\s\S]))/gm;
const span = /`([^`\n]+)`|\*\*([^*\n]+)\*\*/g;

/**
 * @param {string} text
 * @returns {readonly Block[]}
 */
export const blocksOf = (text) => {
  /** @type {Block[]} */
  const blocks = [];
  let end = 0;
  for (const match of text.matchAll(fence)) {
    blocks.push(...paragraphsOf(text.slice(end, match.index)));
    blocks.push({ kind: 'code', language: match[1] ?? '', text: (match[2] ?? '').replace(/\n$/, '') });
    end = match.index + match[0].length;
  }
  return [...blocks, ...paragraphsOf(text.slice(end))];
};

/**
 * @param {string} text
 * @returns {readonly Block[]}
 */
const paragraphsOf = (text) =>
  text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replace(/^\n+|\s+$/g, ''))
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({ kind: 'paragraph', spans: spansOf(paragraph) }));

/**
 * @param {string} text
 * @returns {readonly Span[]}
 */
const spansOf = (text) => {
  /** @type {Span[]} */
  const spans = [];
  let end = 0;
  for (const match of text.matchAll(span)) {
    spans.push({ kind: 'text', text: text.slice(end, match.index) });
    spans.push(
      match[1] === undefined ? { kind: 'strong', text: match[2] ?? '' } : { kind: 'code', text: match[1] },
    );
    end = match.index + match[0].length;
  }
  return [...spans, { kind: /** @type {const} */ ('text'), text: text.slice(end) }].filter(
    ({ text: part }) => part !== '',
  );
};
