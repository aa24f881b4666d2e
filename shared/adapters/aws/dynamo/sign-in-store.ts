/**
 * `SignInStore` on the one table: a sign-in is one item, where a token of its hash would be, and no list of tokens has it.
 *
 * The index that finds the sign-ins of a person is a moment behind the table.
 */
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SignInStore } from '#shared/ports/access.ts';
import { queryAll } from './query-pages.ts';
import { keys, type Table } from './table.ts';
import { tokenFrom } from './token-store.ts';

const listOf = (person: string): string => `OWNER#person-${person}#SIGNIN`;

export const makeSignInStore = (table: Table): SignInStore => ({
  put: async (signIn) => {
    const { hash, person, createdAt, expiresAt } = signIn;
    const ttl = expiresAt === undefined ? {} : { ttl: Math.ceil(expiresAt / 1000) };
    const ownerSk = `${String(createdAt).padStart(13, '0')}#${signIn.id}`;
    const Item = { ...keys.token(hash), ...signIn, ...ttl, ownerPk: listOf(person), ownerSk };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  },
  ofPerson: async (person) => {
    const items = await queryAll(table, {
      IndexName: 'owner',
      KeyConditionExpression: 'ownerPk = :pk',
      ExpressionAttributeValues: { ':pk': listOf(person) },
    });
    return items.map(tokenFrom);
  },
  remove: async (hash) => {
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: keys.token(hash) }));
  },
});
