/**
 * The rights of a role one by one: an action on a resource, the policies without it, and whether any call used it.
 * A pattern of actions counts as a right of its own that no call can use up, so that none goes by unseen.
 */
import { accountId, region } from '../../local/endpoint/account.ts';
import type { Authorisation } from '../../local/recorder/authorisations.ts';
import { applies, many, type Statement } from './policy-evaluation.ts';

export type SingleRight = {
  /** `dynamodb:GetItem on dynamodb table/sallyport` */
  readonly text: string;
  readonly statement: Statement;
  readonly without: readonly Statement[];
};

export const rightsOf = (statements: readonly Statement[]): readonly SingleRight[] => {
  const allowed = statements.filter(({ Effect }) => Effect === 'Allow').flatMap(split);
  const denied = statements.filter(({ Effect }) => Effect === 'Deny');
  return allowed.map((statement) => ({
    text: textOf(statement),
    statement,
    without: [...denied, ...allowed.filter((other) => textOf(other) !== textOf(statement))],
  }));
};

const textOf = ({ Action, Resource }: Statement): string =>
  `${String(Action)} on ${shortened(String(Resource))}`;

const split = (statement: Statement): readonly Statement[] =>
  many(statement.Action).flatMap((Action) =>
    many(statement.Resource).map((Resource) => ({ ...statement, Action, Resource })),
  );

/** Sorted, each once. */
export const unusedOf = (
  statements: readonly Statement[],
  asked: readonly Authorisation[],
): readonly string[] => {
  const rights = rightsOf(statements);
  const isUsed = ({ statement }: SingleRight): boolean =>
    !String(statement.Action).includes('*') && asked.some((one) => applies(statement, one));
  // Two statements may give the same right on other partitions of the table: it is used when either is.
  const used = new Set(rights.filter(isUsed).map(({ text }) => text));
  return [...new Set(rights.map(({ text }) => text))].filter((text) => !used.has(text)).toSorted();
};

const shortened = (resource: string): string =>
  resource
    .replace('arn:aws:', '')
    .replace(`:${region}:`, ':')
    .replace(`:${accountId}:`, ' ')
    .replace(':::', ' ');
