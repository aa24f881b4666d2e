/**
 * Syntax highlighting for the languages that agents write. It returns pieces with classes, not markup, so that no text is
 * parsed as HTML.
 */
import core from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** A piece of highlighted code: its text and its class. */
export type CodePiece = { readonly text: string; readonly scope: string };

const languages = {
  bash,
  css,
  diff,
  dockerfile,
  go,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) core.registerLanguage(name, language);

/** Names that models use beside the library's own aliases (py, js, sh …). */
const otherNames: Readonly<Record<string, string>> = { node: 'javascript', vue: 'xml', jsonc: 'json' };

/** The library's token tree. */
type Node = { readonly scope?: string; readonly children: readonly (Node | string)[] };

export const piecesOf = (code: string, language: string): readonly CodePiece[] | undefined => {
  const name = otherNames[language] ?? language;
  if (core.getLanguage(name) === undefined) return undefined;
  const { _emitter: emitter } = core.highlight(code, { language: name, ignoreIllegals: true });
  return flatten((emitter as unknown as { readonly rootNode: Node }).rootNode, '');
};

/** A piece has the class of the innermost scope: `title.function` is shown as `title`. */
const flatten = ({ children }: Node, scope: string): readonly CodePiece[] =>
  children.flatMap((child) =>
    typeof child === 'string'
      ? [{ text: child, scope }]
      : flatten(child, child.scope?.split('.')[0] ?? scope),
  );
