/**
 * Slots in the table: one item per slot beside one counter, moved together in the transaction that makes,
 * wakes or ends a session. The counter's condition is what makes the limit hard (L3).
 */
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { slotRecord } from '#shared/contracts/stored/deployment-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { slotAuditMs } from '#shared/domain/limits.ts';
import type { Session } from '#shared/domain/session.ts';
import { type SlotHolder, slotHolderOf } from '#shared/domain/slots.ts';
import type { SlotStore } from '#shared/ports/slots.ts';
import { dueItems } from './due.ts';
import { dueValues, type Item, isConditionFailed, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;
type Counter = NonNullable<Actions[number]['Update']>;

/** Refused when no slot is left: the counter's action comes first. */
export const acquireSlot = (
  TableName: string,
  session: Session,
  { at, slotsMax }: { readonly at: number; readonly slotsMax: number },
): Actions => {
  const holder = slotHolderOf(session);
  const slot = { session: session.id, flavor: session.flavor, takenAt: at };
  const count = countBy(TableName, holder, { step: 1, at });
  return [
    {
      Update: {
        ...count,
        ConditionExpression: 'attribute_not_exists(active) OR active < :max',
        ExpressionAttributeValues: { ...count.ExpressionAttributeValues, ':max': slotsMax },
      },
    },
    { Put: { TableName, Item: { ...keys.slot(holder, session.id), ...slot } } },
  ];
};

/** Refused when the slot was released before. */
export const releaseSlot = (TableName: string, session: Session, at: number): Actions =>
  release(TableName, { holder: slotHolderOf(session), session: session.id, at });

const release = (
  TableName: string,
  { holder, session, at }: { readonly holder: SlotHolder; readonly session: SessionId; readonly at: number },
): Actions => [
  {
    Delete: { TableName, Key: keys.slot(holder, session), ConditionExpression: 'attribute_exists(pk)' },
  },
  { Update: countBy(TableName, holder, { step: -1, at }) },
];

/** Every change makes the holder due for an audit, unless it already is. */
const countBy = (
  TableName: string,
  holder: SlotHolder,
  { step, at }: { readonly step: number; readonly at: number },
): Counter => ({
  TableName,
  Key: keys.slots(holder),
  UpdateExpression: 'SET duePk = :duePk, dueAt = if_not_exists(dueAt, :dueAt) ADD active :step, version :one',
  ExpressionAttributeValues: { ':step': step, ':one': 1, ...dueValues('slots', holder, at + slotAuditMs) },
});

export const makeSlotStore = (table: Table): SlotStore => ({
  read: async (holder) => {
    const items = await partition(table, holder);
    const counter = items.find(({ sk }) => sk === 'COUNTER');
    return {
      holder,
      counted: Number(counter?.['active'] ?? 0),
      version: Number(counter?.['version'] ?? 0),
      taken: items.filter(({ sk }) => sk !== 'COUNTER').map((item) => decodeStored(slotRecord, item)),
    };
  },
  release: async (holder, session, at) => {
    const actions = release(table.name, { holder, session, at });
    return (await transact(table, new TransactWriteCommand({ TransactItems: actions }))) === 'done';
  },
  settle: settle(table),
  due: async (now, itemsMax) =>
    (await dueItems(table, { kind: 'slots', now, itemsMax })).map(
      ({ pk }) => String(pk).slice('SLOTS#'.length) as SlotHolder,
    ),
});

const partition = async ({ client, name }: Table, holder: SlotHolder): Promise<readonly Item[]> => {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.slots(holder).pk },
      ConsistentRead: true,
    }),
  );
  return Items;
};

const settle =
  ({ client, name }: Table): SlotStore['settle'] =>
  async ({ holder, version, taken }) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.slots(holder),
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
