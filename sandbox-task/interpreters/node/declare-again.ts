/**
 * Declares a name again in another way than an earlier call did.
 *
 * V8 lets a later call declare a `const` again as a `const`, and `let` and classes as either, but no variable or function
 * as one of these, nor the other way round. It refuses before anything has run, so the code is tried again: the
 * name stays what it was (`let`, `var`, `const`), and gets the new value. A function is then not hoisted.
 */
import { deepening, type Token, tokensOf } from './tokens.ts';

type Kind = 'let' | 'var' | 'const';
/** A constant last: what is declared as a variable may be assigned. */
const kinds: readonly Kind[] = ['let', 'var', 'const'];

/** The name that could not be declared, if that is what the error is about and it can get a new value. */
export const redeclaredName = (error: unknown): string | undefined =>
  error instanceof SyntaxError
    ? /^Identifier '(?!(?:undefined|NaN|Infinity)')(.+)' has already been declared$/.exec(error.message)?.[1]
    : undefined;

/** The code with each other way to declare the name; none when it declares it twice itself. */
export const declareAgain = (code: string, name: string): readonly string[] => {
  const tokens = tokensOf(code);
  const declared = declarationsOf(tokens).filter(({ names }) => names.includes(name));
  const [declaration, ...more] = declared;
  if (declaration === undefined || more.length > 0) return [];
  const isVariable = !isAssigned(code, tokens, { name, declaration });
  return kinds
    .filter((kind) => kind !== declaration.word && (kind !== 'const' || isVariable))
    .map((kind) => declareAs(code, kind, { name, declaration }));
};

type Declaration = {
  readonly word: string;
  readonly names: readonly string[];
  readonly start: number;
  readonly end: number;
  /** A single name without a value. */
  readonly isEmpty: boolean;
  /** The places of its tokens. */
  readonly first: number;
  readonly last: number;
};

const declarationsOf = (tokens: readonly Token[]): readonly Declaration[] => {
  let depth = 0;
  return tokens.flatMap((token, index) => {
    depth += deepening(token);
    if (depth !== 0 || token.kind !== 'word' || tokens[index - 1]?.text === '.') return [];
    if (/^(?:let|var|const)$/.test(token.text)) return variableAt(tokens, index);
    return /^(?:function|class)$/.test(token.text) ? definitionAt(tokens, index) : [];
  });
};

const variableAt = (tokens: readonly Token[], index: number): readonly Declaration[] => {
  const [token, next, after] = tokens.slice(index, index + 3);
  if (token === undefined || next === undefined) return [];
  const isPattern = '{['.includes(next.text);
  if (!isPattern && next.kind !== 'word') return [];
  const last = isPattern ? closingOf(tokens, index + 1) : index + 1;
  const names = tokens
    .slice(index + 1, last + 1)
    .filter(({ kind }, at) => kind === 'word' && tokens[index + 2 + at]?.text !== ':')
    .map(({ text }) => text);
  const isEmpty = !isPattern && after?.text !== '=';
  return [{ word: token.text, names, start: token.start, end: token.end, isEmpty, first: index, last }];
};

const closingOf = (tokens: readonly Token[], index: number): number => {
  let depth = 0;
  for (let at = index; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token !== undefined) depth += deepening(token);
    if (depth === 0) return at;
  }
  return tokens.length - 1;
};

/** `async function* name`, `class Name`, where a statement begins. */
const definitionAt = (tokens: readonly Token[], index: number): readonly Declaration[] => {
  const isAsync = tokens[index - 1]?.text === 'async';
  const first = isAsync ? index - 1 : index;
  const name = tokens[index + 1]?.text === '*' ? index + 2 : index + 1;
  const [token, named, before] = [tokens[first], tokens[name], tokens[first - 1]];
  if (token === undefined || named?.kind !== 'word' || !isStatementEnd(before)) return [];
  const { start } = token;
  return [{ word: '', names: [named.text], start, end: start, isEmpty: false, first, last: name }];
};

/** After an operator a function is part of an expression, and its name is its own. */
const isStatementEnd = (token: Token | undefined): boolean =>
  token === undefined || token.kind !== 'sign' || ';})]'.includes(token.text);

type Redeclared = { readonly name: string; readonly declaration: Declaration };

const declareAs = (code: string, kind: Kind, { name, declaration }: Redeclared): string => {
  const { word, start, end, isEmpty } = declaration;
  if (word === '') return `${code.slice(0, start)};${kind} ${name} = ${code.slice(start)}`;
  const rest = code.slice(end);
  const at = rest.indexOf(name) + name.length;
  const value = isEmpty ? `${rest.slice(0, at)} = undefined${rest.slice(at)}` : rest;
  return `${code.slice(0, start)}${kind}${value}`;
};

const assignment = /^\s*(?:=(?![=>])|(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)=|\+\+|--)/;

/** The code itself assigns to the name elsewhere. */
const isAssigned = (code: string, tokens: readonly Token[], { name, declaration }: Redeclared): boolean =>
  tokens.some(
    ({ kind, text, start, end }, index) =>
      kind === 'word' &&
      text === name &&
      (index < declaration.first || index > declaration.last) &&
      tokens[index - 1]?.text !== '.' &&
      (assignment.test(code.slice(end, end + 100)) ||
        /(?:\+\+|--)\s*$/.test(code.slice(0, start).slice(-100))),
  );
