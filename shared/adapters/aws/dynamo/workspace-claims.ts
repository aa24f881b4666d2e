/**
 * Claims that span items: a warm sandbox moves from its pool entry to one workspace (L12), and an idle one is
 * taken from its sessions, each in one transaction that fails on any concurrent change, or on use since a mark.
 */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { idleCheckUsersMax, sandboxStartMsMax } from '#shared/domain/limits.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import { isPausable } from '#shared/domain/session.ts';
import type { Claimed, SlotClaim, WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { beginMeter } from './sandbox-meters.ts';
import { pausing } from './session-activity.ts';
import { type Actions, type Moved, transactMoving } from './slot-moves.ts';
import { keys, type Table } from './table.ts';
import { type Change, canStart, sessionAsRead, stopping, workspaceUpdate } from './workspace-changes.ts';
import { startMove, stopWithSlot } from './workspace-stops.ts';

/** The retention of a claim, in seconds: longer than any sandbox lives, and than ECS may send events of it. */
const claimSecondsMax = 14 * 86_400;

export const claimWarm =
  (table: Table): WorkspaceStore['claimWarm'] =>
  async (id, entry, { generation, at, sandbox: wanted, slot }) => {
    const { name: TableName } = table;
    const metered = await withMeter(table, id, { sandbox: wanted, slot });
    if (metered === 'spent') return metered;
    const { sandbox } = metered;
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
      ...metered.actions,
    ];
    return claimed(await transactMoving(table, startMove(id, sandbox, slot), () => actions));
  };

export const claimStart =
  (table: Table): WorkspaceStore['claimStart'] =>
  async (id, wanted, slot) => {
    const metered = await withMeter(table, id, { sandbox: wanted, slot });
    if (metered === 'spent') return metered;
    const { sandbox } = metered;
    const start = canStart(id, sandbox, sandbox.requestedAt + sandboxStartMsMax);
    const actions = [workspaceUpdate(table.name, id, start), ...metered.actions];
    return claimed(await transactMoving(table, startMove(id, sandbox, slot), () => actions));
  };

type Wanted = { readonly sandbox: SandboxRecord; readonly slot: SlotClaim | undefined };

/** The record with the slices that pay for it, and what they count from then on. */
const withMeter = async (table: Table, workspaceId: WorkspaceId, { sandbox, slot }: Wanted) => {
  const { generation, requestedAt: at } = sandbox;
  const begun = await beginMeter(table, { workspaceId, generation }, { payers: slot?.payers, at });
  if (begun === 'spent') return begun;
  const { meter, actions } = begun;
  return { sandbox: meter === undefined ? sandbox : { ...sandbox, meter }, actions };
};

const claimed = ({ status }: Moved): Claimed => {
  if (status === 'done') return 'claimed';
  return status === 'refused' ? 'lost' : 'full';
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
    const generation = sandbox?.generation ?? 0;
    const change = stopping(id, generation, stop);
    const isMarked = users.length > idleCheckUsersMax;
    return stopWithSlot(table, {
      ...{ id, generation, at: stop.at, slot: sandbox?.slot },
      change: whileIdle(
        isMarked || sandbox?.idleCheck !== undefined ? markStays(change, sandbox) : change,
        workspace,
      ),
      others: isMarked
        ? []
        : sessions.map((session) =>
            isPausable(session)
              ? pausing(TableName, session, stop.pausedUntil(session))
              : sessionAsRead(TableName, session),
          ),
    });
  };

/** A session that entered since is in none of the checks, and the first process that was started since in no answer of the sandbox. */
const whileIdle = ({ when, set, values }: Change, { users, sandbox }: Workspace): Change => {
  const conditions = [
    when,
    users.length === 0 ? 'attribute_not_exists(#users)' : '#users = :users',
    ...(sandbox?.hasProcesses ? [] : ['attribute_not_exists(#sandbox.hasProcesses)']),
  ];
  return {
    when: conditions.join(' AND '),
    set,
    values: users.length === 0 ? values : { ...values, ':users': new Set(users) },
  };
};

const markStays = ({ when, set, values }: Change, sandbox: Workspace['sandbox']): Change => ({
  when: `${when} AND #sandbox.idleCheck = :check`,
  set,
  values: { ...values, ':check': sandbox?.idleCheck ?? '' },
});
