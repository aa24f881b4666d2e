/**
 * Starts and stops of a sandbox with its slot: a start takes the slot and a stop gives it back in the same write (L4). Its confirmed stop
 * also counts its time in the slices that pay for it (TM10).
 *
 * The record of the sandbox names its slot and those slices for as long as they hold, so that a stop that comes twice counts once.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import type { SlotClaim } from '#shared/ports/workspace-store.ts';
import { endMeter } from './sandbox-meters.ts';
import { type Actions, type SlotMove, transactMoving } from './slot-moves.ts';
import { type Item, isConditionFailed, itemOfFailure, keys, type Table } from './table.ts';
import { type Change, workspaceUpdate } from './workspace-changes.ts';
import { workspaceFrom } from './workspace-items.ts';

type SandboxSlot = NonNullable<SandboxRecord['slot']>;
/** As the record has it. */
type Held = Pick<SandboxRecord, 'slot' | 'meter'>;

/** Undefined for a sandbox that counts for no session. */
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
  /** Its time ends. */
  readonly isLast?: true;
};

/** A read that was out of date costs one attempt. */
const triesMax = 4;

/** The workspace after the stop; undefined when its condition did not hold. */
export const stopWithSlot = async (table: Table, stop: Stop): Promise<Workspace | undefined> => {
  let held: Held = stop.slot === undefined ? {} : { slot: stop.slot };
  let counts = true;
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const asked = metered(table.name, stop, { meter: held.meter, counts });
    const { slot } = held;
    const result = slot === undefined ? await stopPlain(table, asked) : await stopHolding(table, asked, slot);
    if ('workspace' in result) return result.workspace;
    if (result.isUncounted && held.meter !== undefined && counts) counts = false;
    else {
      const now = heldIn(result.before, stop);
      if (now.slot?.session === slot?.session && now.meter?.since === held.meter?.since) return undefined;
      held = now;
    }
  }
  return undefined;
};

type Stopped =
  | { readonly workspace: Workspace | undefined }
  | {
      readonly before: Item | undefined;
      /** The tree of its slices is deleted: it alone refused. */
      readonly isUncounted?: boolean;
    };

const heldIn = (item: Item | undefined, { generation, isLast }: Stop): Held => {
  const { sandbox } = item === undefined ? {} : workspaceFrom(item);
  if (sandbox?.generation !== generation) return {};
  const { slot, meter } = sandbox;
  return { ...(slot && { slot }), ...(isLast && meter && { meter }) };
};

type Metered = { readonly meter: SandboxRecord['meter']; readonly counts: boolean };

/** The last write of a sandbox with its time. */
const metered = (TableName: string, stop: Stop, { meter, counts }: Metered): Stop => {
  const { id, generation, at, change, isLast, others = [] } = stop;
  if (isLast === undefined) return stop;
  if (meter === undefined)
    return { ...stop, change: andWhen(change, 'attribute_not_exists(#sandbox.meter)') };
  const { when, set, values } = andWhen(change, '#sandbox.meter.since = :meterSince');
  return {
    ...stop,
    change: { when, set: removing(set, '#sandbox.meter'), values: { ...values, ':meterSince': meter.since } },
    others: counts
      ? [...others, endMeter(TableName, { workspaceId: id, generation }, { meter, at })]
      : others,
  };
};

const removing = (set: string, path: string): string =>
  set.includes(' REMOVE ') ? `${set}, ${path}` : `${set} REMOVE ${path}`;

const stopPlain = async (table: Table, { id, change, others = [] }: Stop): Promise<Stopped> => {
  const Update = asUpdate(table, id, andWhen(change, 'attribute_not_exists(#sandbox.slot)'));
  if (others.length > 0) {
    const moved = await transactMoving(table, undefined, () => [{ Update }, ...others]);
    return moved.status === 'done' ? { workspace: await read(table, id) } : refused(moved);
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
    set: removing(set, '#sandbox.slot'),
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
  return moved.status === 'done' ? { workspace: await read(table, id) } : refused(moved);
};

const andWhen = (change: Change, condition: string): Change & { readonly when: string } => ({
  ...change,
  when: change.when === undefined ? condition : `(${change.when}) AND ${condition}`,
});

const asUpdate = ({ name }: Table, id: WorkspaceId, change: Change) => ({
  ...workspaceUpdate(name, id, change).Update,
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});

const refused = (moved: Awaited<ReturnType<typeof transactMoving>>): Stopped => {
  if (moved.status !== 'refused') return { before: undefined };
  const [own] = moved.reasons;
  return { before: own?.item, isUncounted: own?.code !== 'ConditionalCheckFailed' };
};

const read = async ({ client, name }: Table, id: WorkspaceId): Promise<Workspace | undefined> => {
  const got = new GetCommand({ TableName: name, Key: keys.workspace(id), ConsistentRead: true });
  const { Item: item } = await client.send(got);
  return item && workspaceFrom(item);
};
