/**
 * Changes of the choices of a session's client. Each choice is written by itself, so that concurrent changes of others remain.
 * On request a change is made only if the choices on which it depends are as they were read.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DetailsChange } from '#shared/domain/session-details.ts';
import type { LimitsChange } from '#shared/domain/session-tree.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { sessionFrom } from './session-items.ts';
import { isConditionFailed, keys, type Table } from './table.ts';

/** DynamoDB refuses an empty one. */
export const mapOf = <Value>(
  entries: readonly (readonly [string, Value])[],
): Record<string, Value> | undefined => (entries.length === 0 ? undefined : Object.fromEntries(entries));

/** The conditions of a write that holds only while these are as they were read; undefined: absent. */
export const detailsAsRead = (read: DetailsChange & LimitsChange) => {
  const entries = Object.entries(read);
  return {
    conditions: entries.map(([field, value]) =>
      value === undefined ? `attribute_not_exists(#${field})` : `#${field} = :read_${field}`,
    ),
    names: Object.fromEntries(entries.map(([field]) => [`#${field}`, field])),
    values: Object.fromEntries(
      entries.flatMap(([field, value]) => (value === undefined ? [] : [[`:read_${field}`, value]])),
    ),
  };
};

type Changes = DetailsChange & LimitsChange;

/** Without the words `SET` and `REMOVE`. */
export const expressionsOf = (change: Changes, read: Changes) => {
  const [given, asRead] = [Object.entries(change), detailsAsRead(read)];
  const set = given.filter(([, value]) => value !== undefined);
  const removed = given.filter(([, value]) => value === undefined);
  const names = given.map(([field]) => [`#${field}`, field] as const);
  const values = set.map(([field, value]) => [`:${field}`, value] as const);
  return {
    conditions: ['attribute_exists(pk)', ...asRead.conditions],
    set: set.map(([field]) => `#${field} = :${field}`),
    removed: removed.map(([field]) => `#${field}`),
    names: [...names, ...Object.entries(asRead.names)],
    values: [...values, ...Object.entries(asRead.values)],
  };
};

export const updateOf = ({ set, removed }: { set: readonly string[]; removed: readonly string[] }): string =>
  [
    ...(set.length === 0 ? [] : [`SET ${set.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`REMOVE ${removed.join(', ')}`]),
  ].join(' ');

export const changeDetails =
  ({ client, name }: Table): SessionStore['change'] =>
  async (id, change, read = {}) => {
    const expressions = expressionsOf(change, read);
    const update = updateOf(expressions);
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: expressions.conditions.join(' AND '),
          ...(update === '' ? {} : { UpdateExpression: update }),
          ExpressionAttributeNames: mapOf(expressions.names),
          ExpressionAttributeValues: mapOf(expressions.values),
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && sessionFrom(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };
