/**
 * `WorkspaceStore` on the one table. A workspace's sandbox is a map inside its item, so that a sandbox's
 * whole life is conditional updates of one item on its generation and state.
 */
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { workspaceRecord } from '#shared/contracts/stored-records.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { sandboxStartMsMax, stopRetryMs } from '#shared/domain/limits.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { dueItems } from './due.ts';
import {
  duePartition,
  dueShardOf,
  type Item,
  isConditionFailed,
  keys,
  namesIn,
  type Table,
} from './table.ts';

export const makeWorkspaceStore = (table: Table): WorkspaceStore => {
  const change = update(table);
  return {
    create: create(table),
    get: get(table),
    join: async (id, session) => {
      await change(id, { set: 'ADD #users :session', values: { ':session': new Set([session]) } });
    },
    leave: (id, session) =>
      change(id, { set: 'DELETE #users :session', values: { ':session': new Set([session]) } }),
    claimStart: async (id, sandbox) =>
      isDone(
        await change(id, {
          when: 'attribute_not_exists(#sandbox) OR (#sandbox.#state = :stopped AND #sandbox.generation = :previous)',
          set: 'SET #sandbox = :sandbox, duePk = :duePk, dueAt = :dueAt',
          values: {
            ':stopped': 'stopped',
            ':previous': sandbox.generation - 1,
            ':sandbox': sandbox,
            ...due(id, sandbox.requestedAt + sandboxStartMsMax),
          },
        }),
      ),
    noteTask: async (id, generation, taskArn) =>
      isDone(
        await change(id, {
          when: '#sandbox.generation = :generation',
          set: 'SET #sandbox.taskArn = :taskArn',
          values: { ':generation': generation, ':taskArn': taskArn },
        }),
      ),
    noteAddress: async (id, generation, address) =>
      isDone(
        await change(id, {
          when: '#sandbox.generation = :generation AND #sandbox.#state = :starting',
          set: 'SET #sandbox.address = :address',
          values: { ':generation': generation, ':starting': 'starting', ':address': address },
        }),
      ),
    markReady: async (id, generation, at) =>
      isDone(
        await change(id, {
          when: '#sandbox.generation = :generation AND #sandbox.#state = :starting',
          set: 'SET #sandbox.#state = :ready, #sandbox.readyAt = :at REMOVE duePk, dueAt',
          values: { ':generation': generation, ':starting': 'starting', ':ready': 'ready', ':at': at },
        }),
      ),
    markStopping: (id, generation, at) =>
      change(id, {
        when: '#sandbox.generation = :generation AND #sandbox.#state IN (:starting, :ready, :stopping)',
        set: 'SET #sandbox.#state = :stopping, #sandbox.stopRequestedAt = :at, duePk = :duePk, dueAt = :dueAt',
        values: {
          ':generation': generation,
          ':starting': 'starting',
          ':ready': 'ready',
          ':stopping': 'stopping',
          ':at': at,
          ...due(id, at + stopRetryMs),
        },
      }),
    markStopped: (id, generation, { reason, at }) =>
      change(id, {
        when: '#sandbox.generation = :generation AND #sandbox.#state <> :stopped',
        set: 'SET #sandbox.#state = :stopped, #sandbox.stoppedReason = :reason, #sandbox.stopRequestedAt = :at REMOVE duePk, dueAt',
        values: { ':generation': generation, ':stopped': 'stopped', ':reason': reason, ':at': at },
      }),
    due: async (now, itemsMax) =>
      (await dueItems(table, { kind: 'workspace', now, itemsMax })).map(workspaceFrom),
  };
};

const due = (id: WorkspaceId, dueAt: number) => ({
  ':duePk': duePartition('workspace', dueShardOf(id)),
  ':dueAt': dueAt,
});

const isDone = (workspace: Workspace | undefined): boolean => workspace !== undefined;

const workspaceFrom = (item: Item): Workspace =>
  decodeStored(workspaceRecord, { ...item, users: [...((item['users'] as Set<string> | undefined) ?? [])] });

type Change = {
  readonly when?: string;
  readonly set: string;
  readonly values: Readonly<Record<string, unknown>>;
};

/** The workspace after the change; undefined when the condition did not hold or it does not exist. */
const update =
  ({ client, name }: Table) =>
  async (id: WorkspaceId, { when, set, values }: Change): Promise<Workspace | undefined> => {
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
  async ({ users, ...workspace }) => {
    const Item = {
      ...keys.workspace(workspace.id),
      ...workspace,
      ...(users.length > 0 ? { users: new Set(users) } : {}),
    };
    try {
      await client.send(
        new PutCommand({ TableName: name, Item, ConditionExpression: 'attribute_not_exists(pk)' }),
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
