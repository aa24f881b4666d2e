/**
 * Names that an earlier call declared in another way: `function f` and later `let f`, or the reverse.
 *
 * V8 lets `let` and `class` be declared again, and functions, but not one as the other. It says so before
 * anything has run, so the code can be tried again with that declaration as an assignment.
 */
import { deepening, type Token, tokensOf } from './tokens.ts';

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
