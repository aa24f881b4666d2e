/** A workspace as an item; the contract decodes it on the way back. */
import { decodeStored } from '#shared/contracts/decode.ts';
import { workspaceRecord } from '#shared/contracts/stored/workspace-records.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import { dueValues, type Item, keys } from './table.ts';

/** An empty set cannot be stored: without users the attribute is absent. */
export const workspaceItem = ({ users, ...workspace }: Workspace): Item => ({
  ...keys.workspace(workspace.id),
  ...workspace,
  ...(users.length > 0 ? { users: new Set(users) } : {}),
});

export const workspaceFrom = (item: Item): Workspace =>
  decodeStored(workspaceRecord, { ...item, users: [...((item['users'] as Set<string> | undefined) ?? [])] });

export const workspaceDue = (id: WorkspaceId, dueAt: number) => dueValues('workspace', id, dueAt);
