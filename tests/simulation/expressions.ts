/**
 * The conditions of DynamoDB's expression language, as far as the adapters use them, compiled once per text.
 *
 * A comparison with an attribute that is not there is false, except `<>`; names and values are looked up when
 * an expression runs. Unknown syntax is refused, so that no condition is taken for true unread.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
 */
import { isDeepStrictEqual } from 'node:util';

export type Item = Readonly<Record<string, unknown>>;
export type Scope = {
  readonly item: Item;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
};

type Condition = (scope: Scope) => boolean;
export type Operand = (scope: Scope) => unknown;

const tokensOf = (text: string): readonly string[] => text.match(/<>|<=|>=|[()=<>,+]|[:#\w][\w#.:]*/g) ?? [];

export class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  next(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new Error('an expression ends too early');
    this.#at += 1;
    return token;
  }

  takes(token: string): boolean {
    if (this.peek() !== token) return false;
    this.#at += 1;
    return true;
  }

  expect(token: string): void {
    if (!this.takes(token)) throw new Error(`an expression has ${this.peek()} where ${token} belongs`);
  }
}

const nameOf = (part: string, names: Scope['names']): string => {
  if (!part.startsWith('#')) return part;
  const name = names[part];
  if (name === undefined) throw new Error(`the name ${part} is not declared`);
  return name;
};

export const pathOf = (token: string): ((names: Scope['names']) => readonly string[]) => {
  const parts = token.split('.');
  return (names) => parts.map((part) => nameOf(part, names));
};

export const attributeOf = (token: string): Operand => {
  if (!token.includes('.')) return ({ item, names }) => item[nameOf(token, names)];
  const path = pathOf(token);
  return ({ item, names }) => {
    let current: unknown = item;
    for (const name of path(names)) {
      if (typeof current !== 'object' || current === null || Array.isArray(current)) return undefined;
      current = Reflect.get(current, name);
    }
    return current;
  };
};

const sizeOf = (value: unknown): number | undefined => {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (value instanceof Set) return value.size;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined;
};

export const operand = (reader: Reader): Operand => {
  const token = reader.next();
  if (token === 'size') {
    reader.expect('(');
    const inner = operand(reader);
    reader.expect(')');
    return (scope) => sizeOf(inner(scope));
  }
  if (token.startsWith(':'))
    return ({ values }) => {
      if (!Object.hasOwn(values, token)) throw new Error(`the value ${token} is not declared`);
      return values[token];
    };
  return attributeOf(token);
};

const orderOf = (one: unknown, other: unknown): number => {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : one > other ? 1 : 0;
  return Number.NaN;
};

/** Most values are texts and numbers. */
const isSame = (one: unknown, other: unknown): boolean =>
  typeof one === 'object' && typeof other === 'object'
    ? isDeepStrictEqual(one, other)
    : Object.is(one, other);

const comparisons: Readonly<Record<string, (one: unknown, other: unknown) => boolean>> = {
  '=': (one, other) => one !== undefined && isSame(one, other),
  '<>': (one, other) => !isSame(one, other),
  '<': (one, other) => orderOf(one, other) < 0,
  '<=': (one, other) => orderOf(one, other) <= 0,
  '>': (one, other) => orderOf(one, other) > 0,
  '>=': (one, other) => orderOf(one, other) >= 0,
};

export const holds = (one: unknown, other: unknown): boolean => {
  if (typeof one === 'string') return typeof other === 'string' && one.includes(other);
  if (one instanceof Set) return one.has(other);
  return Array.isArray(one) && one.some((entry) => isSame(entry, other));
};

const functions: Readonly<Record<string, (given: readonly Operand[], scope: Scope) => boolean>> = {
  attribute_exists: ([path], scope) => path?.(scope) !== undefined,
  attribute_not_exists: ([path], scope) => path?.(scope) === undefined,
  contains: ([path, value], scope) => holds(path?.(scope), value?.(scope)),
  begins_with: ([path, value], scope) => String(path?.(scope) ?? '').startsWith(String(value?.(scope))),
};

const listOf = (reader: Reader): readonly Operand[] => {
  reader.expect('(');
  const all = [operand(reader)];
  while (reader.takes(',')) all.push(operand(reader));
  reader.expect(')');
  return all;
};

const comparison = (reader: Reader): Condition => {
  const left = operand(reader);
  const word = reader.next();
  if (word === 'IN') {
    const all = listOf(reader);
    return (scope) => all.some((one) => isSame(left(scope), one(scope)));
  }
  if (word === 'BETWEEN') {
    const from = operand(reader);
    reader.expect('AND');
    const to = operand(reader);
    return (scope) => orderOf(left(scope), from(scope)) >= 0 && orderOf(left(scope), to(scope)) <= 0;
  }
  const compare = comparisons[word];
  if (compare === undefined) throw new Error(`an expression compares by ${word}`);
  const right = operand(reader);
  return (scope) => compare(left(scope), right(scope));
};

const factor = (reader: Reader): Condition => {
  if (reader.takes('NOT')) {
    const inner = factor(reader);
    return (scope) => !inner(scope);
  }
  if (reader.takes('(')) {
    const inner = alternatives(reader);
    reader.expect(')');
    return inner;
  }
  const apply = functions[reader.peek() ?? ''];
  if (apply === undefined) return comparison(reader);
  reader.next();
  const given = listOf(reader);
  return (scope) => apply(given, scope);
};

const conjunction = (reader: Reader): Condition => {
  const all = [factor(reader)];
  while (reader.takes('AND')) all.push(factor(reader));
  return (scope) => all.every((one) => one(scope));
};

const alternatives = (reader: Reader): Condition => {
  const all = [conjunction(reader)];
  while (reader.takes('OR')) all.push(conjunction(reader));
  return (scope) => all.some((one) => one(scope));
};

export const cached = <T>(compile: (text: string) => T): ((text: string) => T) => {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = compile(text);
    known.set(text, made);
    return made;
  };
};

export const conditionOf = cached((text): Condition => {
  const reader = new Reader(text);
  const condition = alternatives(reader);
  if (reader.peek() !== undefined) throw new Error(`a condition goes on with ${reader.peek()}`);
  return condition;
});
