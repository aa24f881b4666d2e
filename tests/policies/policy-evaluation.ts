/**
 * Evaluation of a request by the caller's identity policies, as AWS does it: denied where a statement denies, else allowed
 * where one allows, else denied. Pure; an unknown condition is an error, never passed over.
 *
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
import type { Authorisation } from '../../local/recorder/authorisations.ts';

type OneOrMany = string | readonly string[];

export type Statement = {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: OneOrMany;
  readonly Resource: OneOrMany;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, OneOrMany>>>>;
};

export const isAllowed = (statements: readonly Statement[], asked: Authorisation): boolean => {
  const met = statements.filter((statement) => applies(statement, asked));
  return met.some(({ Effect }) => Effect === 'Allow') && met.every(({ Effect }) => Effect === 'Allow');
};

export const applies = (statement: Statement, { action, resource, context }: Authorisation): boolean =>
  many(statement.Action).some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
  many(statement.Resource).some((pattern) => matches(pattern, resource)) &&
  Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => holds(operator, many(wanted), context[key])),
  );

export const many = (value: OneOrMany): readonly string[] => (typeof value === 'string' ? [value] : value);

/** `*` is any text, `?` any one character (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html). */
const matches = (pattern: string, text: string): boolean => {
  const compiled = expressions.get(pattern) ?? expressionOf(pattern);
  expressions.set(pattern, compiled);
  return compiled.test(text);
};

/** Compiled once: each request is compared with every right. */
const expressions = new Map<string, RegExp>();

const expressionOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  );

type Comparison = (wanted: string, found: string) => boolean;

const comparisons: Readonly<Record<string, Comparison>> = {
  StringEquals: (wanted, found) => wanted === found,
  StringLike: matches,
  ArnEquals: matches,
  ArnLike: matches,
};

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html */
const holds = (
  operator: string,
  wanted: readonly string[],
  found: readonly string[] | undefined,
): boolean => {
  if (operator === 'Null') return wanted.includes(String(found === undefined));
  const [, set, name = '', ifExists] = /^(?:(ForAllValues):)?(\w+?)(IfExists)?$/.exec(operator) ?? [];
  const compare = comparisons[name];
  if (compare === undefined) throw new Error(`the condition ${operator} is not known here`);
  const values = found ?? [];
  const isMet = (value: string): boolean => wanted.some((one) => compare(one, value));
  if (set !== undefined) return values.every(isMet);
  return values.length === 0 ? ifExists !== undefined : values.some(isMet);
};
