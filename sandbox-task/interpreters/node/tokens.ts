/**
 * The words, strings and signs of JavaScript, as far as they are needed to tell code from text and comments.
 *
 * This is no parser: a slash after `)`, `]` or `}` counts as a division. A wrong token leaves the code unchanged, or makes it a
 * syntax error that names the line.
 */
export type Token = {
  readonly kind: 'word' | 'string' | 'sign' | 'other';
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

const space = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const word = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const number = /\d[\w.]*/y;
const quoted = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const templatePart = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y;
const beforeRegex =
  /^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield|instanceof)$|^[^)\]}\w$]$/;

export const tokensOf = (code: string): readonly Token[] => {
  const tokens: Token[] = [];
  /** Depth of braces inside each open `${`. */
  const templates: number[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(code)?.[0];
  };
  const push = (kind: Token['kind'], text: string): void => {
    tokens.push({ kind, text, start: at, end: at + text.length });
    at += text.length;
  };
  const pushTemplatePart = (): void => {
    const part = match(templatePart) ?? '';
    push('other', part);
    if (part.endsWith('${')) templates.push(0);
  };
  const pushSign = (sign: string): void => {
    const depth = templates.at(-1);
    if (sign === '}' && depth === 0) {
      templates.pop();
      at += 1;
      pushTemplatePart();
      return;
    }
    if (depth !== undefined && sign === '{') templates[templates.length - 1] = depth + 1;
    if (depth !== undefined && sign === '}') templates[templates.length - 1] = depth - 1;
    push('sign', sign);
  };
  while (at < code.length) {
    const skipped = match(space);
    if (skipped !== undefined) {
      at += skipped.length;
      continue;
    }
    const found = nextToken(match, mayBeRegex(tokens.at(-1)));
    if (found !== undefined) push(found.kind, found.text);
    else if (code[at] === '`') {
      at += 1;
      pushTemplatePart();
    } else pushSign(code[at] ?? '');
  }
  return tokens;
};

/** One more after an opening bracket, one less after a closing one. */
export const deepening = ({ kind, text }: Token): number => {
  if (kind !== 'sign') return 0;
  return '{(['.includes(text) ? 1 : '})]'.includes(text) ? -1 : 0;
};

type Match = (pattern: RegExp) => string | undefined;

const nextToken = (match: Match, isRegexPossible: boolean): Pick<Token, 'kind' | 'text'> | undefined => {
  const named = match(word);
  if (named !== undefined) return { kind: 'word', text: named };
  const text = match(quoted);
  if (text !== undefined) return { kind: 'string', text };
  const other = match(number) ?? (isRegexPossible ? match(regex) : undefined);
  return other === undefined ? undefined : { kind: 'other', text: other };
};

const mayBeRegex = (previous: Token | undefined): boolean =>
  previous === undefined || (previous.kind !== 'string' && beforeRegex.test(previous.text));
