/**
 * Places in the table: one item per place beside one counter, moved together in the transaction that makes,
 * wakes or ends a session. The counter's condition is what makes the limit hard (L3).
 */
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { placeRecord } from '#shared/contracts/stored/quota-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { placeAuditMs } from '#shared/domain/limits.ts';
import { type PlaceHolder, placesOf } from '#shared/domain/quota.ts';
import type { Session } from '#shared/domain/session.ts';
import type { PlaceStore } from '#shared/ports/place-store.ts';
import { dueItems } from './due.ts';
import { dueValues, type Item, isConditionFailed, keys, type Table } from './table.ts';
import { sendWithRetry } from './transaction.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;
type Counter = NonNullable<Actions[number]['Update']>;

/** Refused when no place is left: the counter's action comes first. */
export const takePlace = (
  TableName: string,
  session: Session,
  { at, placesMax }: { readonly at: number; readonly placesMax: number },
): Actions => {
  const holder = placesOf(session);
  const place = { session: session.id, flavor: session.flavor, takenAt: at };
  const count = countBy(TableName, holder, { step: 1, at });
  return [
    {
      Update: {
        ...count,
        ConditionExpression: 'attribute_not_exists(active) OR active < :max',
        ExpressionAttributeValues: { ...count.ExpressionAttributeValues, ':max': placesMax },
      },
    },
    { Put: { TableName, Item: { ...keys.place(holder, session.id), ...place } } },
  ];
};

/** Refused when the place was given back before. */
export const givePlaceBack = (TableName: string, session: Session, at: number): Actions =>
  giveBack(TableName, { holder: placesOf(session), session: session.id, at });

const giveBack = (
  TableName: string,
  { holder, session, at }: { readonly holder: PlaceHolder; readonly session: SessionId; readonly at: number },
): Actions => [
  {
    Delete: { TableName, Key: keys.place(holder, session), ConditionExpression: 'attribute_exists(pk)' },
  },
  { Update: countBy(TableName, holder, { step: -1, at }) },
];

/** Every change makes the holder due for an audit, once until that audit has been. */
const countBy = (
  TableName: string,
  holder: PlaceHolder,
  { step, at }: { readonly step: number; readonly at: number },
): Counter => ({
  TableName,
  Key: keys.places(holder),
  UpdateExpression: 'SET duePk = :duePk, dueAt = if_not_exists(dueAt, :dueAt) ADD active :step, version :one',
  ExpressionAttributeValues: { ':step': step, ':one': 1, ...dueValues('places', holder, at + placeAuditMs) },
});

export const makePlaceStore = (table: Table): PlaceStore => ({
  read: async (holder) => {
    const items = await partition(table, holder);
    const counter = items.find(({ sk }) => sk === 'COUNTER');
    return {
      holder,
      counted: Number(counter?.['active'] ?? 0),
      version: Number(counter?.['version'] ?? 0),
      taken: items.filter(({ sk }) => sk !== 'COUNTER').map((item) => decodeStored(placeRecord, item)),
    };
  },
  release: async (holder, session, at) => {
    const actions = giveBack(table.name, { holder, session, at });
    return (await sendWithRetry(table, new TransactWriteCommand({ TransactItems: actions }))) === 'done';
  },
  settle: settle(table),
  due: async (now, itemsMax) =>
    (await dueItems(table, { kind: 'places', now, itemsMax })).map(
      ({ pk }) => String(pk).slice('PLACES#'.length) as PlaceHolder,
    ),
});

const partition = async ({ client, name }: Table, holder: PlaceHolder): Promise<readonly Item[]> => {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.places(holder).pk },
      ConsistentRead: true,
    }),
  );
  return Items;
};

const settle =
  ({ client, name }: Table): PlaceStore['settle'] =>
  async ({ holder, version, taken }) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.places(holder),
          ConditionExpression: 'version = :version',
          UpdateExpression: 'SET active = :active REMOVE duePk, dueAt',
          ExpressionAttributeValues: { ':version': version, ':active': taken.length },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };
