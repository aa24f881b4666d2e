/**
 * Starts and stops of a sandbox with its slot: a start takes the slot and a stop gives it back in the same write (L4).
 *
 * The record of the sandbox names its slot for as long as it holds it, so that a stop that comes twice releases it once.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import type { SlotClaim } from '#shared/ports/workspace-store.ts';
import { type Actions, type SlotMove, transactMoving } from './slot-moves.ts';
import { type Item, isConditionFailed, itemOfFailure, keys, type Table } from './table.ts';
import { type Change, workspaceUpdate } from './workspace-changes.ts';
import { workspaceFrom } from './workspace-items.ts';

type SandboxSlot = NonNullable<SandboxRecord['slot']>;

/** Undefined for a sandbox that counts for nobody. */
export const startMove = (
  id: WorkspaceId,
  { slot, generation, flavor, requestedAt }: SandboxRecord,
  claim: SlotClaim | undefined,
): SlotMove | undefined =>
  slot && {
    ...slot,
    known: claim?.known ?? {},
    change: { type: 'sandbox-started', sandbox: { workspace: id, generation, flavor } },
    at: requestedAt,
    slotsMax: claim?.slotsMax,
  };

type Stop = {
  readonly id: WorkspaceId;
  readonly generation: number;
  readonly at: number;
  /** As its caller read it. */
  readonly slot: SandboxSlot | undefined;
  readonly change: Change;
  /** Further actions of the same write. */
  readonly others?: Actions;
};

/** A read that was out of date costs one attempt. */
const triesMax = 4;

/** The workspace after the stop; undefined when its condition did not hold. */
export const stopWithSlot = async (table: Table, stop: Stop): Promise<Workspace | undefined> => {
  let { slot } = stop;
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const result = slot === undefined ? await stopPlain(table, stop) : await stopHolding(table, stop, slot);
    if ('workspace' in result) return result.workspace;
    const now = slotIn(result.before, stop.generation);
    if (now?.session === slot?.session) return undefined;
    slot = now;
  }
  return undefined;
};

type Stopped = { readonly workspace: Workspace | undefined } | { readonly before: Item | undefined };

const slotIn = (item: Item | undefined, generation: number): SandboxSlot | undefined => {
  const { sandbox } = item === undefined ? {} : workspaceFrom(item);
  return sandbox?.generation === generation ? sandbox.slot : undefined;
};

const stopPlain = async (table: Table, { id, change, others = [] }: Stop): Promise<Stopped> => {
  const Update = asUpdate(table, id, andWhen(change, 'attribute_not_exists(#sandbox.slot)'));
  if (others.length > 0) {
    const moved = await transactMoving(table, undefined, () => [{ Update }, ...others]);
    return moved.status === 'done' ? { workspace: await read(table, id) } : { before: itemOf(moved) };
  }
  try {
    const { Attributes } = await table.client.send(new UpdateCommand({ ...Update, ReturnValues: 'ALL_NEW' }));
    return { workspace: Attributes && workspaceFrom(Attributes) };
  } catch (error) {
    if (isConditionFailed(error)) return { before: itemOfFailure(error) };
    throw error;
  }
};

const stopHolding = async (table: Table, stop: Stop, slot: SandboxSlot): Promise<Stopped> => {
  const { id, generation, at, change, others = [] } = stop;
  const { when, set, values } = andWhen(change, '#sandbox.slot.#session = :slotSession');
  const releasing = {
    when,
    set: set.includes(' REMOVE ') ? `${set}, #sandbox.slot` : `${set} REMOVE #sandbox.slot`,
    values: { ...values, ':slotSession': slot.session },
  };
  const move: SlotMove = {
    ...slot,
    known: { sandbox: { workspace: id, generation, flavor: 'micro' } },
    change: { type: 'sandbox-stopped', workspace: id, generation },
    at,
  };
  const moved = await transactMoving(table, move, () => [
    { Update: asUpdate(table, id, releasing) },
    ...others,
  ]);
  return moved.status === 'done' ? { workspace: await read(table, id) } : { before: itemOf(moved) };
};

const andWhen = (change: Change, condition: string): Change & { readonly when: string } => ({
  ...change,
  when: change.when === undefined ? condition : `(${change.when}) AND ${condition}`,
});

const asUpdate = ({ name }: Table, id: WorkspaceId, change: Change) => ({
  ...workspaceUpdate(name, id, change).Update,
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});

const itemOf = (moved: Awaited<ReturnType<typeof transactMoving>>): Item | undefined =>
  moved.status === 'refused' ? moved.reasons[0]?.item : undefined;

const read = async ({ client, name }: Table, id: WorkspaceId): Promise<Workspace | undefined> => {
  const got = new GetCommand({ TableName: name, Key: keys.workspace(id), ConsistentRead: true });
  const { Item: item } = await client.send(got);
  return item && workspaceFrom(item);
};
