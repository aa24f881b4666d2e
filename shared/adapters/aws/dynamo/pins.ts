/**
 * `PinStore` on the one table: pins beside the workspace whose objects they keep, and one item with the version of the
 * set. A query may see a transaction half done; a set counts as known when no pin was made for seconds before it was
 * read, and a transaction finds version and checkpoint as they were.
 */
import { DeleteCommand, GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { pinRecord } from '#shared/contracts/stored/workspace-records.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { pinsQuietMs } from '#shared/domain/limits.ts';
import { type Pin, type ReleasedPin, sourcesReleasedMax } from '#shared/domain/pins.ts';
import type { PinStore } from '#shared/ports/pins.ts';
import { dueRecords } from './due.ts';
import { prefixedItems } from './partition.ts';
import { sourcesReleased } from './pin-actions.ts';
import { type Item, isConditionFailed, keys, namesIn, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { workspaceUpdate } from './workspace-changes.ts';

type Key = { readonly pk: string; readonly sk: string };

export const makePinStore = (table: Table): PinStore => ({
  settledPins: settledPins(table),
  duePins: (now, itemsMax, onUnreadable) =>
    dueRecords(table, { kind: 'pin', now, itemsMax, onUnreadable }, releasedFrom),
  postponePin: postponePin(table),
  removePin: removePin(table),
  releaseSources: releaseSources(table),
});

const pinFrom = (item: Item): Pin & { readonly releasedAt?: number } => {
  const objects = [...((item['objects'] as Set<string> | undefined) ?? [])];
  return decodeStored(pinRecord, { ...item, objects });
};

const releasedFrom = (item: Item): ReleasedPin => ({ releasedAt: 0, ...pinFrom(item) });

const settledPins =
  (table: Table): PinStore['settledPins'] =>
  async (id, { workspace, at }) => {
    const { client, name: TableName } = table;
    const { Item: set } = await client.send(
      new GetCommand({ TableName, Key: keys.pins(id), ConsistentRead: true }),
    );
    if (set !== undefined && at - Number(set['changedAt']) < pinsQuietMs) return undefined;
    const version = set === undefined ? undefined : String(set['version']);
    const all = version === undefined ? [] : await pinsOf(table, id);
    const pins = all.filter(({ releasedAt }) => releasedAt === undefined);
    const checks = [versionIs(keys.pins(id), version), checkpointIs(id, workspace)];
    const TransactItems = checks.map((check) => ({ ConditionCheck: { TableName, ...check } }));
    if ((await transact(table, new TransactWriteCommand({ TransactItems }))) !== 'done') return undefined;
    return { pins, ...(version === undefined ? {} : { version }) };
  };

const absent = 'attribute_not_exists(pk)';

const versionIs = (Key: Key, version: string | undefined) =>
  version === undefined
    ? { Key, ConditionExpression: absent }
    : {
        Key,
        ConditionExpression: 'version = :version',
        ExpressionAttributeValues: { ':version': version },
      };

type AsRead = Parameters<PinStore['settledPins']>[1]['workspace'];

const checkpointIs = (id: WorkspaceId, workspace: AsRead) => {
  const Key = keys.workspace(id);
  if (workspace === undefined) return { Key, ConditionExpression: absent };
  const { checkpoint } = workspace;
  return checkpoint === undefined
    ? { Key, ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(checkpoint)' }
    : {
        Key,
        ConditionExpression: '#checkpoint.id = :checkpoint',
        ExpressionAttributeNames: namesIn('#checkpoint'),
        ExpressionAttributeValues: { ':checkpoint': checkpoint.id },
      };
};

const pinsOf = async (table: Table, id: WorkspaceId) =>
  (await prefixedItems(table, keys.pin(id, ''))).map(pinFrom);

/** It has ended, and no holder has taken it up again since. */
const asReleased = ({ releasedAt, objects }: ReleasedPin) => ({
  ConditionExpression: 'releasedAt = :releasedAt AND size(objects) = :objects',
  ExpressionAttributeValues: { ':releasedAt': releasedAt, ':objects': objects.length },
});

const postponePin =
  ({ client, name: TableName }: Table): PinStore['postponePin'] =>
  async (pin, dueAt) => {
    const { ConditionExpression, ExpressionAttributeValues } = asReleased(pin);
    try {
      await client.send(
        new UpdateCommand({
          TableName,
          Key: keys.pin(pin.owner, pin.holder),
          ConditionExpression,
          UpdateExpression: 'SET dueAt = :dueAt',
          ExpressionAttributeValues: { ...ExpressionAttributeValues, ':dueAt': dueAt },
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  };

const removePin =
  (table: Table): PinStore['removePin'] =>
  async (pin, { pins, version }) => {
    const { client, name: TableName } = table;
    const Delete = { TableName, Key: keys.pin(pin.owner, pin.holder), ...asReleased(pin) };
    // Further ended ones need no set: concurrent janitors may each collect one.
    const isOver = pins.length === 0 && version !== undefined;
    if (isOver && (await removeSet(table, { Delete, owner: pin.owner, version }))) return;
    try {
      await client.send(new DeleteCommand(Delete));
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  };

type Last = {
  readonly Delete: ReturnType<typeof asReleased> & { readonly TableName: string; readonly Key: Key };
  readonly owner: WorkspaceId;
  readonly version: string;
};

/** The pin with the set, and the mark at the workspace; false when another pin was made concurrently. */
const removeSet = async (table: Table, { Delete, owner, version }: Last): Promise<boolean> => {
  const { name: TableName } = table;
  const set = { Delete: { TableName, ...versionIs(keys.pins(owner), version) } };
  const unmarked = workspaceUpdate(TableName, owner, { set: 'REMOVE isPinned', values: {} });
  const gone = { ConditionCheck: { TableName, Key: keys.workspace(owner), ConditionExpression: absent } };
  for (const ofWorkspace of [unmarked, gone]) {
    const TransactItems = [{ Delete }, set, ofWorkspace];
    if ((await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done') return true;
  }
  return false;
};

/** In as many transactions as it needs: each finds the checkpoint as it was read. */
const releaseSources =
  (table: Table): PinStore['releaseSources'] =>
  async ({ id, checkpoint }, sources, at) => {
    const { name: TableName } = table;
    const asRead =
      checkpoint === undefined
        ? { when: 'attribute_not_exists(#checkpoint)', values: {} }
        : { when: '#checkpoint.id = :checkpoint', values: { ':checkpoint': checkpoint.id } };
    for (let from = 0; from < sources.length; from += sourcesReleasedMax) {
      const portion = sources.slice(from, from + sourcesReleasedMax);
      const TransactItems = sourcesReleased(TableName, id, { ...asRead, sources: portion, at });
      if ((await transact(table, new TransactWriteCommand({ TransactItems }))) !== 'done') return false;
    }
    return true;
  };
