/**
 * `WorkspaceStore` on the one table. A workspace's sandbox is a map inside its item, so that a sandbox's whole
 * life is conditional updates of one item on its generation and state. A workspace with a sandbox that is not
 * stopped always stands in the `due` index, where live sandboxes are found without a scan.
 */
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { sandboxStartMsMax } from '#shared/domain/limits.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { batchGet } from './batch.ts';
import { dueRecords, listedItems, readable } from './due.ts';
import { listNamed, makeNamed, markDeleted, removable } from './named-workspaces.ts';
import { isConditionFailed, keys, namesIn, type Table } from './table.ts';
import {
  addressNoted,
  type Change,
  canStart,
  checkpointed,
  isReady,
  lastSaveClaimed,
  lastSaveGivenBack,
  logsSeen,
  lookedAt,
  portLeased,
  restoreClaimed,
  restoreGivenBack,
  stopAsked,
  stopped,
  stopping,
  taskNoted,
} from './workspace-changes.ts';
import { claimantOf, claimWarm, markIdle } from './workspace-claims.ts';
import { workspaceFrom, workspaceItem } from './workspace-items.ts';

export const makeWorkspaceStore = (table: Table): WorkspaceStore => {
  const change = update(table);
  const isChanged = async (id: WorkspaceId, wanted: Change): Promise<boolean> =>
    (await change(id, wanted)) !== undefined;
  return {
    create: create(table),
    makeNamed: makeNamed(table),
    listNamed: listNamed(table),
    markDeleted: markDeleted(table),
    get: get(table),
    getMany: async (ids) => (await batchGet(table, [...new Set(ids)].map(keys.workspace))).map(workspaceFrom),
    leave: (id, session) =>
      change(id, { set: 'DELETE #users :session', values: { ':session': new Set([session]) } }),
    remove: remove(table),
    claimStart: (id, sandbox) =>
      isChanged(id, canStart(id, sandbox, sandbox.requestedAt + sandboxStartMsMax)),
    claimWarm: claimWarm(table),
    claimantOf: claimantOf(table),
    recordTask: (id, generation, taskArn) => isChanged(id, taskNoted(generation, taskArn)),
    recordAddress: (id, generation, task) => isChanged(id, addressNoted(generation, task)),
    claimRestore: (id, generation, claim) => isChanged(id, restoreClaimed(generation, claim)),
    unclaimRestore: async (id, generation) => {
      await change(id, restoreGivenBack(generation));
    },
    markReady: (id, generation, at) => isChanged(id, isReady(id, generation, at)),
    markStopping: (id, generation, stop) => change(id, stopping(id, generation, stop)),
    markIdle: markIdle(table),
    claimLastSave: (id, generation, claim) => isChanged(id, lastSaveClaimed(generation, claim)),
    unclaimLastSave: async (id, generation) => {
      await change(id, lastSaveGivenBack(generation));
    },
    recordStopRequest: async (id, generation, at) => {
      await change(id, stopAsked(generation, at));
    },
    markStopped: (id, generation, stop) => change(id, stopped(generation, stop)),
    recordCheckpoint: (id, checkpoint, base) => isChanged(id, checkpointed(checkpoint, base)),
    recordLogsSeen: async (id, generation, lines) => {
      await change(id, logsSeen(generation, lines));
    },
    leasePort: async (id, generation, port) =>
      (await change(id, portLeased(generation, port)))?.sandbox?.ports,
    due: (now, itemsMax, onUnreadable) =>
      dueRecords(table, { kind: 'workspace', now, itemsMax, onUnreadable }, workspaceFrom),
    postpone: (workspace, dueAt) => isChanged(workspace.id, lookedAt(workspace, dueAt)),
    live: async function* (onUnreadable) {
      for await (const items of listedItems(table, 'workspace'))
        yield readable(items, workspaceFrom, (error) => onUnreadable?.(error));
    },
  };
};

/** The workspace after the change; undefined when the condition did not hold or it does not exist. */
const update =
  ({ client, name }: Table) =>
  async (id: Workspace['id'], { when, set, values }: Change): Promise<Workspace | undefined> => {
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.workspace(id),
          ConditionExpression:
            when === undefined ? 'attribute_exists(pk)' : `attribute_exists(pk) AND (${when})`,
          UpdateExpression: set,
          ExpressionAttributeValues: { ...values },
          ExpressionAttributeNames: namesIn(`${when ?? ''} ${set}`),
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && workspaceFrom(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

const create =
  ({ client, name }: Table): WorkspaceStore['create'] =>
  async (workspace) => {
    try {
      await client.send(
        new PutCommand({
          TableName: name,
          Item: workspaceItem(workspace),
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  };

const remove =
  ({ client, name }: Table): WorkspaceStore['remove'] =>
  async (id) => {
    try {
      await client.send(
        new DeleteCommand({
          TableName: name,
          Key: keys.workspace(id),
          ...removable,
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

const get =
  ({ client, name }: Table): WorkspaceStore['get'] =>
  async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.workspace(id), ConsistentRead: true }),
    );
    return Item && workspaceFrom(Item);
  };
