/**
 * The restore of a snapshot into a workspace: checkpoint, sandbox and pins change in one transaction, which fails on
 * any concurrent change of the workspace or of a session in it (SN4).
 */
import { keptAfter } from '#shared/domain/kept-checkpoints.ts';
import { restoreCheckUsersMax } from '#shared/domain/limits.ts';
import { isOwnPack } from '#shared/domain/pack-names.ts';
import { pinsFor, sourcesOf, workspaceHolder } from '#shared/domain/pins.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import { ownedBy } from '#shared/domain/snapshot.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { auditItem } from './audit-log.ts';
import { newVersionAction, pinActions, sourceActions } from './pin-actions.ts';
import type { Actions } from './slot-moves.ts';
import type { Table } from './table.ts';
import { type Change, sessionAsRead } from './workspace-changes.ts';
import { workspaceDue } from './workspace-items.ts';
import { stopWithSlot } from './workspace-stops.ts';

type Restore = Parameters<WorkspaceStore['restoreTo']>[2];

export const restoreTo =
  (table: Table): WorkspaceStore['restoreTo'] =>
  (workspace, sessions, restore) => {
    const { name: TableName } = table;
    const { id, sandbox } = workspace;
    const { checkpoint, at } = restore;
    const holder = workspaceHolder(id);
    const owned = ownedBy(id, checkpoint);
    const isOfItsOwn = checkpoint.packs.some(isOwnPack);
    const others: Actions = [
      ...(sessions.length > restoreCheckUsersMax
        ? []
        : sessions.map((session) => sessionAsRead(TableName, session))),
      ...sourceActions(TableName, restore.source),
      ...pinActions(TableName, pinsFor(holder, owned), at),
      // Packs of its own may have been needed by the snapshot alone until now.
      ...(isOfItsOwn ? [newVersionAction(TableName, id, { holder, at })] : []),
      ...restore.audits.map((row) => ({ Put: { TableName, Item: auditItem(row) } })),
    ];
    return stopWithSlot(table, {
      ...{ id, generation: sandbox?.generation ?? 0, at, slot: sandbox?.slot },
      change: restored(workspace, restore),
      others,
    });
  };

const isLive = (sandbox: SandboxRecord | undefined): sandbox is SandboxRecord =>
  sandbox !== undefined && sandbox.state !== 'stopped';

/** A caller that uses the sandbox of so many sessions removes the mark. */
const hasMark = ({ users, sandbox }: Workspace): boolean =>
  users.length > restoreCheckUsersMax && sandbox?.state === 'ready';

const restored = (workspace: Workspace, { checkpoint, reason, at, dueAt }: Restore): Change => {
  const { id, users, sandbox, checkpoint: base } = workspace;
  const sources = sourcesOf(id, checkpoint);
  const when = [
    'attribute_not_exists(deletedAt)',
    users.length === 0 ? 'attribute_not_exists(#users)' : '#users = :users',
    base === undefined ? 'attribute_not_exists(#checkpoint)' : '#checkpoint.id = :base',
    sandbox === undefined
      ? 'attribute_not_exists(#sandbox)'
      : '#sandbox.generation = :generation AND #sandbox.#state = :state',
    ...(hasMark(workspace) ? ['#sandbox.idleCheck = :check'] : []),
  ];
  const stop =
    ', #sandbox.#state = :stopping, #sandbox.stopRequestedAt = if_not_exists(#sandbox.stopRequestedAt, :at), duePk = :duePk, dueAt = :dueAt';
  // Of a stopped one as well: the next sandbox reports it.
  const discard = ', #sandbox.isDiscarded = :true, #sandbox.stoppedReason = :reason';
  return {
    when: when.join(' AND '),
    set: `SET #checkpoint = :checkpoint, #kept = :kept${sandbox === undefined ? '' : discard}${isLive(sandbox) ? stop : ''}${sources.length > 0 ? ' ADD sources :sources' : ''}`,
    values: {
      ':checkpoint': checkpoint,
      ':kept': keptAfter(workspace, { at }),
      ...(users.length === 0 ? {} : { ':users': new Set(users) }),
      ...(base === undefined ? {} : { ':base': base.id }),
      ...(sandbox === undefined
        ? {}
        : { ':generation': sandbox.generation, ':state': sandbox.state, ':true': true, ':reason': reason }),
      ...(isLive(sandbox) ? { ':stopping': 'stopping', ':at': at, ...workspaceDue(id, dueAt) } : {}),
      ...(hasMark(workspace) ? { ':check': sandbox?.idleCheck ?? '' } : {}),
      ...(sources.length > 0 ? { ':sources': new Set(sources) } : {}),
    },
  };
};
