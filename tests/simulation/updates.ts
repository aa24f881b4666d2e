/**
 * The updates of DynamoDB's expression language, as far as the adapters use them, compiled once per text.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
 */
import {
  attributeOf,
  cached,
  holds,
  type Item,
  type Operand,
  operand,
  pathOf,
  Reader,
  type Scope,
} from './expressions.ts';

type Update = (scope: Scope) => Item;

const withValue = (item: Item, path: readonly string[], value: unknown): Item => {
  const [first = '', ...rest] = path;
  if (rest.length === 0) {
    if (value !== undefined) return { ...item, [first]: value };
    const { [first]: _, ...others } = item;
    return others;
  }
  const inner = item[first];
  if (typeof inner !== 'object' || inner === null) {
    if (value === undefined) return item;
    throw new Error(`ValidationException: the path ${path.join('.')} leads nowhere`);
  }
  return { ...item, [first]: withValue(inner as Item, rest, value) };
};

type Written = { readonly path: readonly string[]; readonly value: unknown };

/** The item after all changes: copied once. */
const changed = (before: Item, changes: readonly Written[]): Item => {
  const item: Record<string, unknown> = { ...before };
  const removed = new Set<string>();
  for (const { path, value } of changes) {
    const [first = '', ...rest] = path;
    if (rest.length > 0) Object.assign(item, withValue(item, path, value));
    else if (value === undefined) removed.add(first);
    else item[first] = value;
  }
  if (removed.size === 0) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => !removed.has(name)));
};

const term = (reader: Reader): Operand => {
  const word = reader.peek();
  if (word !== 'if_not_exists' && word !== 'list_append') return operand(reader);
  reader.next();
  reader.expect('(');
  const one = term(reader);
  reader.expect(',');
  const other = term(reader);
  reader.expect(')');
  return word === 'if_not_exists'
    ? (scope) => one(scope) ?? other(scope)
    : (scope) => [...(one(scope) as unknown[]), ...(other(scope) as unknown[])];
};

const sum = (reader: Reader): Operand => {
  const one = term(reader);
  if (!reader.takes('+')) return one;
  const other = term(reader);
  return (scope) => Number(one(scope)) + Number(other(scope));
};

type Step = { readonly path: ReturnType<typeof pathOf>; readonly readValue: Operand };

const added = (before: unknown, value: unknown): unknown => {
  if (value instanceof Set) return new Set([...((before as Set<unknown> | undefined) ?? []), ...value]);
  return Number(before ?? 0) + Number(value);
};

const without = (before: unknown, value: unknown): unknown => {
  const left = [...((before as Set<unknown> | undefined) ?? [])].filter((entry) => !holds(value, entry));
  return left.length === 0 ? undefined : new Set(left);
};

const clause = (section: string, reader: Reader): Step => {
  const token = reader.next();
  const path = pathOf(token);
  const before = attributeOf(token);
  switch (section) {
    case 'SET': {
      reader.expect('=');
      return { path, readValue: sum(reader) };
    }
    case 'REMOVE':
      return { path, readValue: () => undefined };
    case 'ADD': {
      const value = operand(reader);
      return { path, readValue: (scope) => added(before(scope), value(scope)) };
    }
    case 'DELETE': {
      const value = operand(reader);
      return { path, readValue: (scope) => without(before(scope), value(scope)) };
    }
    default:
      throw new Error(`an update begins with ${section}`);
  }
};

const steps = (reader: Reader): readonly Step[] => {
  const all: Step[] = [];
  while (reader.peek() !== undefined) {
    const section = reader.next();
    do all.push(clause(section, reader));
    while (reader.takes(','));
  }
  return all;
};

/** Every value is worked out on the item as it was, as DynamoDB does. */
export const updateOf = cached((text): Update => {
  const all = steps(new Reader(text));
  return (scope) => {
    const changes = all.map(({ path, readValue }) => ({ path: path(scope.names), value: readValue(scope) }));
    return changed(scope.item, changes);
  };
});
