/** The list of slots of one holder, an item per slot beside one counter: read, audited, and found when it is due. */
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { countIs, slotStep } from '#shared/domain/slot.ts';
import type { SlotHolder } from '#shared/domain/slot-holder.ts';
import type { SlotStore } from '#shared/ports/slots.ts';
import { duePages } from './due.ts';
import { partitionItems } from './partition.ts';
import { counted, heldSlotFrom, slotWrite } from './slot-moves.ts';
import { type Item, isConditionFailed, keys, prefixes, type Table } from './table.ts';
import { transact } from './transaction.ts';

export const makeSlotStore = (table: Table): SlotStore => ({
  read: read(table),
  correct: correct(table),
  settle: settle(table),
  due: (now, pageMax) => dueHolders(table, { now, pageMax }),
});

async function* dueHolders(
  table: Table,
  wanted: { readonly now: number; readonly pageMax: number },
): AsyncGenerator<readonly SlotHolder[]> {
  for await (const items of duePages(table, { kind: 'slots', ...wanted }))
    yield items.map(({ pk }) => String(pk).slice(prefixes.slots.length) as SlotHolder);
}

const read =
  (table: Table): SlotStore['read'] =>
  async (holder) => {
    const { pk, sk } = keys.slots(holder);
    const items = await partitionItems(table, { pk, from: sk });
    const counter = items.find((item) => item['sk'] === sk);
    return {
      holder,
      counted: Number(counter?.['active'] ?? 0),
      version: Number(counter?.['version'] ?? 0),
      taken: items.filter((item) => item['sk'] !== sk).map(heldSlotFrom),
      ...(counter?.['miscountedAt'] === undefined ? {} : { miscountedAt: Number(counter['miscountedAt']) }),
    };
  };

const correct =
  (table: Table): SlotStore['correct'] =>
  async (holder, { session, movedAt, ...known }, { slot, at }) => {
    const { name } = table;
    const step = slotStep(known, slot);
    const counter = step === 0 ? [] : [{ Update: counted(name, { holder, step, at }) }];
    const TransactItems = [slotWrite(name, { holder, session, at }, { known, slot, movedAt }), ...counter];
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };

const settle =
  (table: Table): SlotStore['settle'] =>
  async ({ holder, version, counted: active, taken, miscountedAt }, at) => {
    const held = taken.length;
    const set = (UpdateExpression: string, values: Item = {}): Promise<boolean> =>
      setCounter(table, holder, { version, UpdateExpression, values });
    switch (countIs({ counted: active, held, miscountedAt }, at)) {
      case 'right':
        return set('REMOVE duePk, dueAt, miscountedAt');
      case 'wrong':
        return set('SET active = :active REMOVE duePk, dueAt, miscountedAt', { ':active': held });
      case 'suspect':
        await set('SET miscountedAt = :at', { ':at': at });
        return false;
      case 'doubted':
        return false;
    }
  };

type Setting = { readonly version: number; readonly UpdateExpression: string; readonly values: Item };

/** False when a slot changed since. */
const setCounter = async (
  { client, name }: Table,
  holder: SlotHolder,
  { version, UpdateExpression, values }: Setting,
): Promise<boolean> => {
  try {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.slots(holder),
        ConditionExpression: 'version = :version',
        UpdateExpression,
        ExpressionAttributeValues: { ':version': version, ...values },
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
};
