/**
 * Rendering of untrusted Markdown: each parser token becomes a virtual element, and text stays text.
 *
 * No HTML is generated or parsed: raw HTML is shown as source, an image becomes a link, and links open only http, https
 * and mailto, in a new tab. A token without a rendering here is shown as source.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { h, type VNode } from 'vue';
import CodeBlock from './code-block.vue';
import { withoutEscapes } from './terminal-text.ts';

type Child = VNode | string;

const openedProtocols = new Set(['http:', 'https:', 'mailto:']);

/** Deeper nesting could exhaust the stack and is shown as source. */
const depthMax = 24;

export const markdownBlocks = (text: string): readonly Child[] => {
  try {
    return childrenOf(lexer(readable(text), { gfm: true, breaks: true }), 0);
  } catch {
    return [h('p', text)];
  }
};

/** Control characters and those that change the text direction. */
const unreadable = /(?![\t\n])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

const readable = (text: string): string =>
  withoutEscapes(text).replaceAll('\r\n', '\n').replace(unreadable, '');

const childrenOf = (tokens: readonly Token[] | undefined, depth: number): Child[] =>
  depth > depthMax
    ? (tokens ?? []).map(({ raw }) => raw)
    : (tokens ?? []).map((token) => elementOf(token as MarkedToken, depth + 1));

const elementOf = (token: MarkedToken, depth: number): Child => {
  switch (token.type) {
    case 'paragraph':
      return h('p', childrenOf(token.tokens, depth));
    case 'heading':
      // The page's own heading is the h1.
      return h(`h${Math.min(token.depth + 1, 6)}`, childrenOf(token.tokens, depth));
    case 'code':
      return h(CodeBlock, { code: token.text, language: (token.lang ?? '').split(/\s/)[0] ?? '' });
    case 'blockquote':
      return h('blockquote', childrenOf(token.tokens, depth));
    case 'list':
      return listOf(token as Tokens.List, depth);
    case 'table':
      return tableOf(token as Tokens.Table, depth);
    case 'hr':
      return h('hr');
    case 'space':
    case 'def':
      return '';
    default:
      return inlineOf(token, depth);
  }
};

const inlineOf = (token: MarkedToken, depth: number): Child => {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return h(token.type, childrenOf(token.tokens, depth));
    case 'codespan':
      return h('code', token.text);
    case 'br':
      return h('br');
    case 'link':
      return linkOf(token.href, childrenOf(token.tokens, depth));
    case 'image':
      return linkOf(token.href, [token.text === '' ? 'image' : token.text]);
    case 'escape':
      return token.text;
    case 'text':
      return 'tokens' in token && token.tokens !== undefined
        ? h('span', childrenOf(token.tokens, depth))
        : unescaped(token.text);
    default:
      return token.raw;
  }
};

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00A0',
};

/** Entities that models write; others stay as they are. */
const unescaped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity);

const listOf = ({ ordered, start, items }: Tokens.List, depth: number): Child => {
  const rows = items.map(({ tokens, task, checked }) =>
    h('li', [...(task ? [checked ? '☑ ' : '☐ '] : []), ...childrenOf(tokens, depth)]),
  );
  return ordered ? h('ol', typeof start === 'number' ? { start } : {}, rows) : h('ul', rows);
};

const tableOf = ({ header, rows, align }: Tokens.Table, depth: number): Child => {
  const row = (tag: 'th' | 'td', cells: readonly Tokens.TableCell[]): Child =>
    h(
      'tr',
      cells.map(({ tokens }, index) =>
        h(tag, { class: align[index] === 'right' ? 'end' : undefined }, childrenOf(tokens, depth)),
      ),
    );
  return h('div', { class: 'scrolled', tabindex: 0 }, [
    h('table', [
      h('thead', [row('th', header)]),
      h(
        'tbody',
        rows.map((cells) => row('td', cells)),
      ),
    ]),
  ]);
};

const linkOf = (href: string, children: readonly Child[]): Child => {
  const url = URL.parse(href);
  if (url === null || !openedProtocols.has(url.protocol)) return h('span', { title: href }, [...children]);
  return h('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow', title: url.href }, [
    ...children,
  ]);
};
