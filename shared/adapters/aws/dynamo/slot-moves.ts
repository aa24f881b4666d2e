/**
 * Changes of a slot inside other transactions: the slot's item, and the counter when it becomes held or free.
 *
 * The writer names the slot as it knows it, and the write is refused when the table has another: it then holds the true
 * one, and is repeated with that. The counter's condition is what makes the limit hard (L3).
 */
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { slotRecord } from '#shared/contracts/stored/deployment-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { slotAuditMs } from '#shared/domain/limits.ts';
import {
  changeSlot,
  type HeldSlot,
  isHeld,
  type Slot,
  type SlotChange,
  slotStep,
} from '#shared/domain/slot.ts';
import type { SlotHolder } from '#shared/domain/slot-holder.ts';
import { type Cancellation, dueValues, type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

export type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

export type SlotMove = {
  readonly holder: SlotHolder;
  readonly session: SessionId;
  /** As its writer knows it. */
  readonly known: Slot;
  /** Absent: a session begins or ends as a conversation, and no slot moves. */
  readonly change?: SlotChange | undefined;
  readonly at: number;
  /** For a change that may take a slot. */
  readonly slotsMax?: number | undefined;
  /** A conversation of the project more, up to its limit, or one less. */
  readonly conversations?: { readonly step: 1; readonly max: number } | { readonly step: -1 } | undefined;
};

export type Moved =
  | { readonly status: 'done'; readonly slot: Slot }
  /** The reasons for the caller's own actions. */
  | { readonly status: 'refused'; readonly reasons: readonly Cancellation[] }
  /** No slot is free, or there are as many conversations as there may be. */
  | { readonly status: 'full' | 'crowded' };

/** Each lost race is another change of the same slot. */
const racesMax = 50;

/** Sends the actions with the move; they may depend on the slot after it. */
export const transactMoving = async (
  table: Table,
  move: SlotMove | undefined,
  actionsOf: (slot: Slot) => Actions,
): Promise<Moved> => {
  let known = move?.known ?? {};
  for (let race = 0; race < racesMax; race += 1) {
    const slot = move?.change === undefined ? known : changeSlot(known, move.change);
    const own = actionsOf(slot);
    const { item, counter } = moving(table.name, move, { known, slot });
    const TransactItems = [...own, ...item, ...counter];
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    if (result === 'done') return { status: 'done', slot };
    const reasons = result.slice(0, own.length);
    if (reasons.some(isRefused)) return { status: 'refused', reasons };
    const [ofItem] = result.slice(own.length, own.length + item.length);
    if (isRefused(ofItem)) {
      known = slotFrom(ofItem?.item);
      continue;
    }
    return { status: fullness(move, result.at(-1)) };
  }
  throw new Error(`the slot of session ${move?.session} moved ${racesMax} times during one change`);
};

const isRefused = (reason: Cancellation | undefined): boolean => reason?.code === 'ConditionalCheckFailed';

const fullness = (move: SlotMove | undefined, counter: Cancellation | undefined): 'full' | 'crowded' => {
  const { conversations } = move ?? {};
  const isCrowded =
    conversations?.step === 1 && Number(counter?.item?.['conversations'] ?? 0) >= conversations.max;
  return isCrowded ? 'crowded' : 'full';
};

/** The slot in an item; of an earlier version when neither a turn nor a sandbox holds it. */
export const slotFrom = (item: Item | undefined): Slot => {
  if (item === undefined) return {};
  const { session: _, movedAt: __, ...slot } = heldSlotFrom(item);
  return slot;
};

export const heldSlotFrom = (item: Item): HeldSlot => {
  const slot = decodeStored(slotRecord, item);
  return slot.turn === undefined && slot.sandbox === undefined ? { ...slot, isOld: true } : slot;
};

type Step = { readonly known: Slot; readonly slot: Slot };

const moving = (
  TableName: string,
  move: SlotMove | undefined,
  { known, slot }: Step,
): { readonly item: Actions; readonly counter: Actions } => {
  if (move === undefined) return { item: [], counter: [] };
  const step = slotStep(known, slot);
  const { holder, at, slotsMax, conversations } = move;
  const item = isSame(known, slot) ? [] : [slotWrite(TableName, move, { known, slot })];
  const counter =
    step === 0 && conversations === undefined
      ? []
      : [{ Update: counted(TableName, { holder, step, at, slotsMax, conversations }) }];
  return { item, counter };
};

const isSame = (one: Slot, other: Slot): boolean =>
  one.turn === other.turn &&
  one.isOld === other.isOld &&
  one.sandbox?.workspace === other.sandbox?.workspace &&
  one.sandbox?.generation === other.sandbox?.generation;

type Named = Pick<SlotMove, 'holder' | 'session' | 'at'>;

/** Replaces or deletes the item, if the table has the slot that the writer knows. */
export const slotWrite = (
  TableName: string,
  { holder, session, at }: Named,
  { known, slot, movedAt }: Step & { readonly movedAt?: number | undefined },
): Actions[number] => {
  const condition = { ...asKnown(known, movedAt), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };
  const Key = keys.slot(holder, session);
  if (!isHeld(slot)) return { Delete: { TableName, Key, ...condition } };
  return { Put: { TableName, Item: { ...Key, session, ...slot, movedAt: at }, ...condition } };
};

const asKnown = (known: Slot, movedAt: number | undefined) => {
  if (!isHeld(known)) return { ConditionExpression: 'attribute_not_exists(pk)' };
  const { turn, sandbox } = known;
  const conditions = [
    'attribute_exists(pk)',
    turn === undefined ? 'attribute_not_exists(turn)' : 'attribute_exists(turn)',
    sandbox === undefined
      ? 'attribute_not_exists(sandbox)'
      : 'sandbox.workspace = :workspace AND sandbox.generation = :generation',
    ...(movedAt === undefined ? [] : ['movedAt = :movedAt']),
  ];
  const values = {
    ...(sandbox === undefined ? {} : { ':workspace': sandbox.workspace, ':generation': sandbox.generation }),
    ...(movedAt === undefined ? {} : { ':movedAt': movedAt }),
  };
  return {
    ConditionExpression: conditions.join(' AND '),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
  };
};

type Count = Pick<SlotMove, 'holder' | 'at' | 'slotsMax' | 'conversations'> & { readonly step: number };

/** Every change makes the holder due for an audit, unless it already is. */
export const counted = (TableName: string, { holder, step, at, slotsMax, conversations }: Count) => {
  const conditions = [
    ...(step > 0 ? ['(attribute_not_exists(active) OR active < :max)'] : []),
    ...(conversations?.step === 1
      ? ['(attribute_not_exists(conversations) OR conversations < :conversationsMax)']
      : []),
  ];
  return {
    TableName,
    Key: keys.slots(holder),
    ...(conditions.length === 0 ? {} : { ConditionExpression: conditions.join(' AND ') }),
    UpdateExpression: `SET duePk = :duePk, dueAt = if_not_exists(dueAt, :dueAt) ADD active :step, version :one${conversations === undefined ? '' : ', conversations :conversations'} REMOVE miscountedAt`,
    ExpressionAttributeValues: {
      ':step': step,
      ':one': 1,
      ...dueValues('slots', holder, at + slotAuditMs),
      ...(step > 0 ? { ':max': slotsMax ?? 0 } : {}),
      ...(conversations === undefined ? {} : { ':conversations': conversations.step }),
      ...(conversations?.step === 1 ? { ':conversationsMax': conversations.max } : {}),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
};
