/**
 * The rights of a role one by one: an action on a resource, the policies without it, and whether any call used it.
 * A pattern of actions counts as a right of its own that no call can use up, so that none goes by unseen. A batch of writes may name
 * several partitions of the table at once, and each of them is a right.
 */
import { accountId, region } from '../../local/endpoint/account.ts';
import type { Authorisation } from '../../local/recorder/authorisations.ts';
import { applies, many, type Statement } from './policy-evaluation.ts';

export type SingleRight = {
  /** `dynamodb:GetItem on dynamodb table/sallyport`, `dynamodb:BatchWriteItem on dynamodb table/sallyport SESSION#*` */
  readonly text: string;
  readonly statement: Statement;
  readonly partition?: string;
  readonly without: readonly Statement[];
};

export const rightsOf = (statements: readonly Statement[]): readonly SingleRight[] => {
  const allowed = statements.filter(({ Effect }) => Effect === 'Allow').flatMap(split);
  const denied = statements.filter(({ Effect }) => Effect === 'Deny');
  const without = (statement: Statement, partition?: string): readonly Statement[] => [
    ...denied,
    ...allowed.flatMap((other) => {
      if (textOf(other) !== textOf(statement)) return [other];
      return partition === undefined ? [] : narrowed(other, partition);
    }),
  ];
  return allowed.flatMap((statement): readonly SingleRight[] => {
    const partitions = batchesOf(statement);
    if (partitions.length === 0) return [{ text: textOf(statement), statement, without: without(statement) }];
    return partitions.map((partition) => ({
      text: `${textOf(statement)} ${partition}`,
      statement,
      partition,
      without: without(statement, partition),
    }));
  });
};

const [allOf, leadingKeys] = ['ForAllValues:StringLike', 'dynamodb:LeadingKeys'];

/** The partitions of a batch of writes. */
const batchesOf = ({ Action, Condition }: Statement): readonly string[] =>
  Action === 'dynamodb:BatchWriteItem' ? many(Condition?.[allOf]?.[leadingKeys] ?? []) : [];

/** Of the same requests, those that do not name this partition. */
const narrowed = (statement: Statement, partition: string): readonly Statement[] => {
  const left = batchesOf(statement).filter((one) => one !== partition);
  return left.length === 0 ? [] : [{ ...statement, Condition: { [allOf]: { [leadingKeys]: left } } }];
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
  const isUsed = ({ statement, partition }: SingleRight): boolean =>
    !String(statement.Action).includes('*') &&
    asked.some((one) => applies(statement, one) && isIn(partition, one));
  // Two statements may give the same right on other partitions of the table: it is used when either is.
  const used = new Set(rights.filter(isUsed).map(({ text }) => text));
  return [...new Set(rights.map(({ text }) => text))].filter((text) => !used.has(text)).toSorted();
};

/** Every request is in no partition in particular. */
const isIn = (partition: string | undefined, { context }: Authorisation): boolean =>
  partition === undefined ||
  (context[leadingKeys] ?? []).some((key) => key.startsWith(partition.replace(/\*$/, '')));

const shortened = (resource: string): string =>
  resource
    .replace('arn:aws:', '')
    .replace(`:${region}:`, ':')
    .replace(`:${accountId}:`, ' ')
    .replace(':::', ' ');
