/**
 * `GrantStore` on the one table: a grant is one item, and its access token one where a token of its hash would be. Both change
 * in one transaction, so that of two refreshes with one token one wins, and no token outlives its grant.
 */
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { grantRecord } from '#shared/contracts/stored/access-records.ts';
import type { Grant } from '#shared/domain/oauth/grant.ts';
import type { AccessToken } from '#shared/domain/principal.ts';
import type { GrantStore } from '#shared/ports/oauth.ts';
import { queryAll } from './query-pages.ts';
import { type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

const listOf = (holder: string): string => `OWNER#${holder}#GRANT`;

const grantFrom = (item: Item): Grant => decodeStored(grantRecord, item);

const itemOf = (grant: Grant): Item => ({
  ...keys.grant(grant.family),
  ...grant,
  ttl: Math.ceil(grant.expiresAt / 1000),
  ownerPk: listOf(grant.consent.holder),
  ownerSk: `${String(grant.createdAt).padStart(13, '0')}#${grant.id}`,
});

const tokenItem = (access: AccessToken): Item => ({
  ...keys.token(access.hash),
  ...access,
  ...(access.expiresAt === undefined ? {} : { ttl: Math.ceil(access.expiresAt / 1000) }),
});

export const makeGrantStore = (table: Table): GrantStore => {
  const { client, name: TableName } = table;
  const read = async (family: string): Promise<Grant | undefined> => {
    const Key = keys.grant(family);
    const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
    return Item && grantFrom(Item);
  };
  /** In place of the version that has this refresh token. */
  const inPlaceOf = (refreshHash: string) => ({
    ConditionExpression: 'refreshHash = :was',
    ExpressionAttributeValues: { ':was': refreshHash },
  });
  /** A revocation and a sign-out delete it: of either and an exchange, one is first. */
  const standing = (credential: string) => ({
    ConditionCheck: {
      TableName,
      Key: keys.token(credential),
      ConditionExpression: 'attribute_exists(pk)',
    },
  });
  const isDone = async (TransactItems: TransactWriteCommand['input']['TransactItems']): Promise<boolean> =>
    (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  return {
    open: (grant, access, { hash, credential }) =>
      isDone([
        {
          ConditionCheck: {
            TableName,
            Key: keys.oauthCode(hash),
            ConditionExpression: 'attribute_exists(usedAt) AND attribute_not_exists(replayedAt)',
          },
        },
        ...(credential === undefined ? [] : [standing(credential)]),
        { Put: { TableName, Item: itemOf(grant), ConditionExpression: 'attribute_not_exists(pk)' } },
        { Put: { TableName, Item: tokenItem(access) } },
      ]),
    get: read,
    rotate: (grant, { access, refreshHash }, times) => {
      const next = { ...grant, ...times, refreshHash, accessHash: access.hash };
      return isDone([
        { Put: { TableName, Item: itemOf(next), ...inPlaceOf(grant.refreshHash) } },
        { Put: { TableName, Item: tokenItem(access) } },
        { Delete: { TableName, Key: keys.token(grant.accessHash) } },
      ]);
    },
    end: async (family) => {
      for (;;) {
        const grant = await read(family);
        if (grant === undefined) return undefined;
        const isEnded = await isDone([
          { Delete: { TableName, Key: keys.grant(family), ...inPlaceOf(grant.refreshHash) } },
          { Delete: { TableName, Key: keys.token(grant.accessHash) } },
        ]);
        if (isEnded) return grant;
      }
    },
    ofHolder: async (holder) => {
      const items = await queryAll(table, {
        IndexName: 'owner',
        KeyConditionExpression: 'ownerPk = :pk',
        ExpressionAttributeValues: { ':pk': listOf(holder) },
        ScanIndexForward: false,
      });
      return items.map(grantFrom);
    },
  };
};
