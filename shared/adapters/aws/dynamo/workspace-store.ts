/**
 * `WorkspaceStore` on the one table. A workspace's sandbox is a map inside its item, so that a sandbox's whole
 * life is conditional updates of one item on its generation and state. A workspace with a sandbox that is not
 * stopped always stands in the `due` index, where live sandboxes are found without a scan.
 */
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { itemOfAttempt, newAttempt } from './attempts.ts';
import { batchGet } from './batch.ts';
import { dueRecords, listedItems, readable, readableByIds } from './due.ts';
import { leave, listNamed, makeNamed, markDeleted } from './named-workspaces.ts';
import { makePinStore } from './pins.ts';
import { type Item, isConditionFailed, keys, namesDeclared, type Table } from './table.ts';
import {
  addressNoted,
  type Change,
  checkpointed,
  idleCheckEnded,
  idleChecked,
  informed,
  isReady,
  lifetimeSet,
  logsSeen,
  lookedAt,
  networkSet,
  portLeased,
  processesNoted,
  restoreClaimed,
  restoreGivenBack,
  restoreRenewed,
  stopped,
  stopping,
  taskNoted,
  told,
  underName,
} from './workspace-changes.ts';
import { claimantOf, claimStart, claimWarm, markIdle } from './workspace-claims.ts';
import { workspaceFrom, workspaceItem } from './workspace-items.ts';
import { lastSaveClaimed, lastSaveGivenBack, stopAsked, stopRefused } from './workspace-last-saves.ts';
import { makeRemains } from './workspace-remains.ts';
import { restoreTo } from './workspace-restores.ts';
import { stopWithSlot } from './workspace-stops.ts';

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
    getMany: async (ids, onUnreadable) => {
      const unique = [...new Set(ids)];
      return readableByIds(await batchGet(table, unique.map(keys.workspace)), workspaceFrom, onUnreadable);
    },
    leave: leave(table),
    claimStart: claimStart(table),
    claimWarm: claimWarm(table),
    claimantOf: claimantOf(table),
    recordTask: (id, generation, taskArn) => isChanged(id, taskNoted(generation, taskArn)),
    recordAddress: (id, generation, task) => isChanged(id, addressNoted(generation, task)),
    ...stepsOfOneCaller(table),
    renewRestore: (id, generation, renewed) => isChanged(id, restoreRenewed(generation, renewed)),
    unclaimRestore: async (id, generation, claim) => {
      await change(id, restoreGivenBack(generation, claim));
    },
    recordLossNotice: async (id, session, generation) => {
      await change(id, informed(session, generation));
    },
    markStopping: (id, generation, stop) =>
      stopWithSlot(table, {
        id,
        generation,
        at: stop.at,
        slot: stop.slot,
        change: stopping(id, generation, stop),
      }),
    markIdleCheck: (id, generation, check) => change(id, idleChecked(generation, check)),
    endIdleCheck: (id, generation) => isChanged(id, idleCheckEnded(generation)),
    markIdle: markIdle(table),
    unclaimLastSave: async (id, generation, until) => {
      await change(id, lastSaveGivenBack(generation, until));
    },
    recordStopRequest: async (id, generation, stop) => {
      await change(id, stopAsked(generation, stop));
    },
    withdrawStopRequest: async (id, generation, at) => {
      await change(id, stopRefused(generation, at));
    },
    // Its first phase has released the slot, as a rule.
    markStopped: (id, generation, stop) =>
      stopWithSlot(table, {
        id,
        generation,
        at: stop.at,
        slot: undefined,
        change: stopped(id, generation, stop),
        isLast: true,
      }),
    recordTold: async (id, generation) => {
      await change(id, told(generation));
    },
    recordCheckpoint: (id, checkpoint, base) => isChanged(id, checkpointed(checkpoint, base)),
    restoreTo: restoreTo(table),
    ...makePinStore(table),
    ...makeRemains(table),
    recordLogsSeen: async (id, generation, lines) => {
      await change(id, logsSeen(generation, lines));
    },
    setLifetime: (id, generation, lifetime) => isChanged(id, lifetimeSet(id, generation, lifetime)),
    setNetwork: (id, generation, network) => isChanged(id, networkSet(generation, network)),
    recordProcesses: (id, generation) => isChanged(id, processesNoted(generation)),
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

/** Steps that one caller takes, and must know that it took. */
const stepsOfOneCaller = (
  table: Table,
): Pick<WorkspaceStore, 'claimRestore' | 'markReady' | 'claimLastSave'> => {
  const step = updateUnderName(table);
  return {
    claimRestore: async (id, generation, claim) =>
      (await step(id, restoreClaimed(generation, claim)))?.sandbox?.restores,
    markReady: async (id, generation, ready) =>
      (await step(id, isReady(id, generation, ready))) !== undefined,
    claimLastSave: async (id, generation, claim) =>
      (await step(id, lastSaveClaimed(generation, claim))) !== undefined,
  };
};

/** The workspace after the change; undefined when the condition did not hold or it does not exist. */
const update =
  (table: Table) =>
  async (id: WorkspaceId, wanted: Change): Promise<Workspace | undefined> => {
    try {
      return await send(table, id, wanted);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

/** As `update`, for a change of the sandbox: the repeat of a request whose answer was lost succeeds as well. */
const updateUnderName =
  (table: Table) =>
  async (id: WorkspaceId, wanted: Change): Promise<Workspace | undefined> => {
    const attempt = newAttempt();
    try {
      return await send(table, id, underName(wanted, attempt));
    } catch (error) {
      const own = itemOfAttempt(error, attempt, ({ sandbox }) => (sandbox as Item | undefined)?.['attempt']);
      return own && workspaceFrom(own);
    }
  };

const send = async (
  { client, name }: Table,
  id: WorkspaceId,
  { when, set, values }: Change,
): Promise<Workspace | undefined> => {
  const { Attributes } = await client.send(
    new UpdateCommand({
      TableName: name,
      Key: keys.workspace(id),
      ConditionExpression: when === undefined ? 'attribute_exists(pk)' : `attribute_exists(pk) AND (${when})`,
      UpdateExpression: set,
      ExpressionAttributeValues: { ...values },
      ...namesDeclared(`${when ?? ''} ${set}`),
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  return Attributes && workspaceFrom(Attributes);
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

const get =
  ({ client, name }: Table): WorkspaceStore['get'] =>
  async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.workspace(id), ConsistentRead: true }),
    );
    return Item && workspaceFrom(Item);
  };
