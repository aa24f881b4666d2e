/**
 * Rewrites the module syntax of code that is evaluated as a script: `import` becomes `await import(…)`, and `export` is
 * dropped.
 *
 * V8 gives a script of the inspector no `import` of its own. Every replacement keeps the line numbers. Imports happen
 * where they stand, not first. Imports of types stay, so that V8 refuses them and the code is read as TypeScript.
 */
import { deepening, type Token, tokensOf } from './tokens.ts';

export const importName = '__sallyportImport';
export const metaName = '__sallyportMeta';

export const toScript = (code: string): string => {
  if (!/\b(?:import|export)\b/.test(code)) return code;
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
    // A declaration ends with its line, also before a bracket that would continue an expression.
    const next = tokens[replacement.last + 1]?.text;
    const end = replacement.isDeclaration && next !== undefined && next !== ';' ? ';' : '';
    script += `${code.slice(copied, token.start)}${replacement.text}${end}${'\n'.repeat(lines)}`;
    copied = last.end;
    index = replacement.last;
  }
  return script + code.slice(copied);
};

type Replacement = { readonly text: string; readonly last: number; readonly isDeclaration?: true };

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
  return token.text === 'export' && isTopLevel ? exportStatement(tokens, index) : undefined;
};

const importStatement = (tokens: readonly Token[], index: number): Replacement | undefined => {
  if (isOfTypes(tokens, index)) return undefined;
  const source = tokens[index + 1]?.kind === 'string' ? index + 1 : sourceAfterFrom(tokens, index + 1);
  const specifier = tokens[source];
  if (specifier?.kind !== 'string') return undefined;
  const { options, last } = attributesAfter(tokens, source);
  const clause = tokens.slice(index + 1, Math.max(index + 1, source - 1));
  const names = importedNames(clause);
  const given = names.length === 0 ? options : `${options || ', undefined'}, ${JSON.stringify(names)}`;
  const imported = `await ${importName}(${specifier.text}${given})`;
  return { text: `let ${bindingsOf(clause).replace('IMPORTED', imported)}`, last, isDeclaration: true };
};

/** `import type X`, and not the import of a default called `type`. */
const isOfTypes = (tokens: readonly Token[], index: number): boolean => {
  const [type, name, after] = tokens.slice(index + 1).map(({ text }) => text);
  return type === 'type' && name !== ',' && (name !== 'from' || after === 'from');
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
  return `{ ${all.join(', ')} } = IMPORTED`;
};

/** The names that the module must have. */
const importedNames = (clause: readonly Token[]): readonly string[] => {
  const words = clause.map(({ text }) => text);
  const isDefault = clause[0]?.kind === 'word';
  const open = words.indexOf('{');
  const named =
    open < 0
      ? []
      : words
          .slice(open + 1, words.lastIndexOf('}'))
          .join(' ')
          .split(' , ');
  const names = named.map((text) => text.split(' ')[0] ?? '').filter((name) => name !== '' && name !== ',');
  return [...(isDefault ? ['default'] : []), ...names.map((name) => name.replaceAll(/^['"]|['"]$/g, ''))];
};

const exportStatement = (tokens: readonly Token[], index: number): Replacement | undefined => {
  const next = tokens[index + 1];
  if (next?.text === '*') {
    const source = sourceAfterFrom(tokens, index + 1);
    return { text: importOnly(tokens[source]), last: source, isDeclaration: true };
  }
  if (next?.text === '{') {
    const close = tokens.findIndex(({ text }, at) => at > index && text === '}');
    if (tokens[close + 1]?.text !== 'from') return { text: '', last: close };
    return { text: importOnly(tokens[close + 2]), last: close + 2, isDeclaration: true };
  }
  if (next?.text === 'default') {
    const isNamed =
      /^(?:function|class|async)$/.test(tokens[index + 2]?.text ?? '') && hasName(tokens, index + 2);
    return { text: isNamed ? '' : 'void ', last: index + 1 };
  }
  return next?.kind === 'word' ? { text: '', last: index } : undefined;
};

/** Has no value, as a declaration. */
const importOnly = (specifier: Token | undefined): string =>
  `let {} = await ${importName}(${specifier?.text})`;

/** `function name`, `async function* name`, `class Name`. */
const hasName = (tokens: readonly Token[], index: number): boolean => {
  const after = tokens
    .slice(index, index + 4)
    .find(({ text }) => !/^(?:async|function|class|\*)$/.test(text));
  return after?.kind === 'word' && after.text !== 'extends';
};
