/**
 * Rewrites code that is evaluated as a script: `import` becomes `await import(…)`, `export` is dropped, and a name that an
 * earlier call declared in another way is assigned instead.
 *
 * Every replacement keeps the line numbers. Imports happen where they stand, not first. A `const` outside functions
 * becomes a `let`: the next call may declare the name again as either. V8 lets `let`, `class` and functions be declared
 * again, but not one as the other. It says so before anything has run, so the code is tried again with an assignment.
 */
import { deepening, type Token, tokensOf } from './tokens.ts';

export const importName = '__sallyportImport';
export const metaName = '__sallyportMeta';

export const toScript = (code: string): string => {
  if (!/\b(?:import|export|const)\b/.test(code)) return code;
  const tokens = tokensOf(code);
  let script = '';
  let copied = 0;
  let depth = 0;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) break;
    depth += deepening(token);
    const replacement = replacementAt(tokens, index, depth === 0);
    if (replacement === undefined) continue;
    const last = tokens[replacement.last] ?? token;
    const lines = code.slice(token.start, last.end).split('\n').length - 1;
    script += `${code.slice(copied, token.start)}${replacement.text}${'\n'.repeat(lines)}`;
    copied = last.end;
    index = replacement.last;
  }
  return script + code.slice(copied);
};

type Replacement = { readonly text: string; readonly last: number };

const replacementAt = (
  tokens: readonly Token[],
  index: number,
  isTopLevel: boolean,
): Replacement | undefined => {
  const token = tokens[index];
  if (token?.kind !== 'word' || tokens[index - 1]?.text === '.') return undefined;
  const next = tokens[index + 1];
  if (token.text === 'import') {
    if (next?.text === '(') return { text: importName, last: index };
    if (next?.text === '.' && tokens[index + 2]?.text === 'meta') return { text: metaName, last: index + 2 };
    return isTopLevel ? importStatement(tokens, index) : undefined;
  }
  if (token.text === 'const' && isTopLevel && next?.text !== ':') return { text: 'let', last: index };
  return token.text === 'export' && isTopLevel ? exportStatement(tokens, index) : undefined;
};

const importStatement = (tokens: readonly Token[], index: number): Replacement | undefined => {
  const source = tokens[index + 1]?.kind === 'string' ? index + 1 : sourceAfterFrom(tokens, index + 1);
  const specifier = tokens[source];
  if (specifier?.kind !== 'string') return undefined;
  const { options, last } = attributesAfter(tokens, source);
  const imported = `await ${importName}(${specifier.text}${options})`;
  const bindings = bindingsOf(tokens.slice(index + 1, Math.max(index + 1, source - 1)));
  return { text: bindings === '' ? imported : `let ${bindings.replace('IMPORTED', imported)}`, last };
};

/** The place of the string after the next `from`, before anything that no clause has; -1 when there is none. */
const sourceAfterFrom = (tokens: readonly Token[], index: number): number => {
  for (let at = index; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.text === 'from' && tokens[at + 1]?.kind === 'string') return at + 1;
    if (token?.kind === 'other' || (token?.kind === 'sign' && !'{},*'.includes(token.text))) return -1;
  }
  return -1;
};

const attributesAfter = (
  tokens: readonly Token[],
  source: number,
): { readonly options: string; readonly last: number } => {
  if (tokens[source + 1]?.text !== 'with' || tokens[source + 2]?.text !== '{')
    return { options: '', last: source };
  const close = tokens.findIndex(({ text }, at) => at > source && text === '}');
  const inside = tokens.slice(source + 3, close).map(({ text }) => text);
  return { options: `, { with: { ${inside.join(' ')} } }`, last: close };
};

/** The left side of `= IMPORTED`, from the clause between `import` and `from`. */
const bindingsOf = (clause: readonly Token[]): string => {
  const words = clause.map(({ text }) => text);
  const first = clause[0]?.kind === 'word' ? words[0] : undefined;
  const star = words.indexOf('*');
  if (star >= 0) {
    const namespace = words[star + 2] ?? '';
    return `${namespace} = IMPORTED${first === undefined ? '' : `, ${first} = ${namespace}.default`}`;
  }
  const open = words.indexOf('{');
  const named = open < 0 ? [] : words.slice(open + 1, words.lastIndexOf('}'));
  const list = named.map((text) => (text === 'as' ? ':' : text)).join(' ');
  const all = [...(first === undefined ? [] : [`default: ${first}`]), ...(list === '' ? [] : [list])];
  return clause.length === 0 ? '' : `{ ${all.join(', ')} } = IMPORTED`;
};

const exportStatement = (tokens: readonly Token[], index: number): Replacement | undefined => {
  const next = tokens[index + 1];
  if (next?.text === '*') {
    const source = sourceAfterFrom(tokens, index + 1);
    return { text: `await ${importName}(${tokens[source]?.text})`, last: source };
  }
  if (next?.text === '{') {
    const close = tokens.findIndex(({ text }, at) => at > index && text === '}');
    if (tokens[close + 1]?.text !== 'from') return { text: '', last: close };
    return { text: `await ${importName}(${tokens[close + 2]?.text})`, last: close + 2 };
  }
  if (next?.text === 'default') {
    const isNamed =
      /^(?:function|class|async)$/.test(tokens[index + 2]?.text ?? '') && hasName(tokens, index + 2);
    return { text: isNamed ? '' : 'void ', last: index + 1 };
  }
  return next?.kind === 'word' ? { text: '', last: index } : undefined;
};

/** `function name`, `async function* name`, `class Name`. */
const hasName = (tokens: readonly Token[], index: number): boolean => {
  const after = tokens
    .slice(index, index + 4)
    .find(({ text }) => !/^(?:async|function|class|\*)$/.test(text));
  return after?.kind === 'word' && after.text !== 'extends';
};

/** The name that could not be declared, if that is what the error is about. */
export const redeclaredName = (error: unknown): string | undefined =>
  error instanceof SyntaxError
    ? /^Identifier '(.+)' has already been declared$/.exec(error.message)?.[1]
    : undefined;

/** Nothing when the code declares it in a way that cannot be an assignment, or twice itself. */
export const asAssignment = (code: string, name: string): string | undefined => {
  const tokens = tokensOf(code);
  let depth = 0;
  const declarations = tokens.flatMap((token, index) => {
    depth += deepening(token);
    if (depth !== 0 || token.text !== name) return [];
    const found = declarationBefore(tokens, index);
    return found === undefined ? [] : [found];
  });
  const [first, ...more] = declarations;
  if (first === undefined || more.length > 0) return undefined;
  const { start, end, text } = first;
  return code.slice(0, start) + text + code.slice(end);
};

type Declaration = { readonly start: number; readonly end: number; readonly text: string };

/** `let name` becomes `name`, `async function name` becomes `name = async function name`. */
const declarationBefore = (tokens: readonly Token[], index: number): Declaration | undefined => {
  const name = tokens[index]?.text ?? '';
  const word = tokens[index - 1];
  if (word === undefined) return undefined;
  const hasValue = tokens[index + 1]?.text === '=';
  if (word.text === 'let')
    return {
      start: word.start,
      end: tokens[index]?.end ?? word.end,
      text: hasValue ? name : `${name} = undefined`,
    };
  const isGenerator = word.text === '*';
  const head = isGenerator ? index - 2 : index - 1;
  if (!/^(?:function|class)$/.test(tokens[head]?.text ?? '')) return undefined;
  const isAsync = tokens[head - 1]?.text === 'async';
  const start = tokens[isAsync ? head - 1 : head]?.start ?? word.start;
  return { start, end: start, text: `;${name} = ` };
};
