/** Changes of what the client of a session chose: each detail by itself, so that concurrent changes of others hold. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { sessionFrom } from './session-items.ts';
import { isConditionFailed, keys, type Table } from './table.ts';

export const changeDetails =
  ({ client, name }: Table): SessionStore['change'] =>
  async (id, change) => {
    const given = Object.entries(change);
    const set = given.filter(([, value]) => value !== undefined);
    const removed = given.filter(([, value]) => value === undefined);
    const clauses = [
      ...(set.length === 0 ? [] : [`SET ${set.map(([field]) => `#${field} = :${field}`).join(', ')}`]),
      ...(removed.length === 0 ? [] : [`REMOVE ${removed.map(([field]) => `#${field}`).join(', ')}`]),
    ];
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: 'attribute_exists(pk)',
          ...(clauses.length === 0
            ? {}
            : {
                UpdateExpression: clauses.join(' '),
                ExpressionAttributeNames: Object.fromEntries(given.map(([field]) => [`#${field}`, field])),
              }),
          ...(set.length === 0
            ? {}
            : {
                ExpressionAttributeValues: Object.fromEntries(
                  set.map(([field, value]) => [`:${field}`, value]),
                ),
              }),
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && sessionFrom(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };
