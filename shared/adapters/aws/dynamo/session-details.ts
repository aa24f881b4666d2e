/**
 * Changes of what the client of a session chose: each detail by itself, so that concurrent changes of others hold; on request only
 * while those that it follows from are as they were read.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DetailsChange } from '#shared/domain/session-details.ts';
import type { LimitsChange } from '#shared/domain/session-tree.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { sessionFrom } from './session-items.ts';
import { isConditionFailed, keys, type Table } from './table.ts';

/** DynamoDB refuses an empty one. */
const mapOf = <Value>(entries: readonly (readonly [string, Value])[]): Record<string, Value> | undefined =>
  entries.length === 0 ? undefined : Object.fromEntries(entries);

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

export const changeDetails =
  ({ client, name }: Table): SessionStore['change'] =>
  async (id, change, read = {}) => {
    const [given, asRead] = [Object.entries(change), detailsAsRead(read)];
    const set = given.filter(([, value]) => value !== undefined);
    const removed = given.filter(([, value]) => value === undefined);
    const clauses = [
      ...(set.length === 0 ? [] : [`SET ${set.map(([field]) => `#${field} = :${field}`).join(', ')}`]),
      ...(removed.length === 0 ? [] : [`REMOVE ${removed.map(([field]) => `#${field}`).join(', ')}`]),
    ];
    const names = given.map(([field]) => [`#${field}`, field] as const);
    const values = set.map(([field, value]) => [`:${field}`, value] as const);
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: ['attribute_exists(pk)', ...asRead.conditions].join(' AND '),
          ...(clauses.length === 0 ? {} : { UpdateExpression: clauses.join(' ') }),
          ExpressionAttributeNames: mapOf([...names, ...Object.entries(asRead.names)]),
          ExpressionAttributeValues: mapOf([...values, ...Object.entries(asRead.values)]),
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && sessionFrom(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };
