/**
 * Claims that span items: a warm sandbox moves from its pool entry to one workspace (L12), and an idle one is
 * taken from its sessions, each in one transaction that fails on any concurrent change.
 */
import { GetCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { sandboxStartMsMax } from '#shared/domain/limits.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { canStart, stopping, workspaceUpdate } from './workspace-changes.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** The retention of a claim, in seconds: longer than any sandbox lives, and than ECS may send events of it. */
const claimSecondsMax = 14 * 86_400;

export const claimWarm =
  (table: Table): WorkspaceStore['claimWarm'] =>
  async (id, entry, { generation, at, sandbox }) => {
    const { name: TableName } = table;
    const entryGeneration = entry.sandbox?.generation ?? 0;
    const claim = {
      ...keys.claim(entry.id, entryGeneration),
      workspaceId: id,
      generation,
      ttl: Math.ceil(at / 1000) + claimSecondsMax,
    };
    const emptied = {
      when: '#sandbox.generation = :generation AND #sandbox.#state = :ready',
      set: 'SET #sandbox.#state = :stopped, #sandbox.stoppedReason = :claimed REMOVE duePk, dueAt',
      values: {
        ':generation': entryGeneration,
        ':ready': 'ready',
        ':stopped': 'stopped',
        ':claimed': 'a workspace claimed it',
      },
    };
    const actions: Actions = [
      workspaceUpdate(TableName, entry.id, emptied),
      workspaceUpdate(TableName, id, canStart(id, sandbox, at + sandboxStartMsMax)),
      { Put: { TableName, Item: claim } },
    ];
    return (await transact(table, new TransactWriteCommand({ TransactItems: actions }))) === 'done';
  };

export const claimantOf =
  ({ client, name }: Table): WorkspaceStore['claimantOf'] =>
  async ({ workspaceId: entry, generation }) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.claim(entry, generation), ConsistentRead: true }),
    );
    return (
      Item && {
        workspaceId: String(Item['workspaceId']) as WorkspaceId,
        generation: Number(Item['generation']),
      }
    );
  };

export const markIdle =
  (table: Table): WorkspaceStore['markIdle'] =>
  async (workspace, sessions, stop) => {
    const { name: TableName } = table;
    const { id, sandbox, users } = workspace;
    const { when, set, values } = stopping(id, sandbox?.generation ?? 0, stop);
    // A session that entered since is in none of the checks below.
    const asRead =
      users.length === 0
        ? { when: `${when} AND attribute_not_exists(#users)`, set, values }
        : { when: `${when} AND #users = :users`, set, values: { ...values, ':users': new Set(users) } };
    const actions: Actions = [
      workspaceUpdate(TableName, id, asRead),
      ...sessions.map((session) => ({
        ConditionCheck: {
          TableName,
          Key: keys.session(session.id),
          ConditionExpression: 'workSeq = :workSeq AND leaseFence = :fence AND lastActiveAt = :lastActiveAt',
          ExpressionAttributeValues: {
            ':workSeq': session.workSeq,
            ':fence': session.lease.fence,
            ':lastActiveAt': session.lastActiveAt,
          },
        },
      })),
    ];
    const result = await transact(table, new TransactWriteCommand({ TransactItems: actions }));
    if (result !== 'done' || sandbox === undefined) return undefined;
    const { stopRequestedAt = stop.at, stoppedReason = stop.reason } = sandbox;
    return { ...workspace, sandbox: { ...sandbox, state: 'stopping', stopRequestedAt, stoppedReason } };
  };
