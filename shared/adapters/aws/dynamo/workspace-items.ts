/** A workspace as an item; the contract decodes it on the way back. */
import { decodeStored } from '#shared/contracts/decode.ts';
import { workspaceRecord } from '#shared/contracts/stored/workspace-records.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import { dueValues, type Item, keys } from './table.ts';

/** An empty set cannot be stored: without users the attribute is absent. */
export const workspaceItem = ({ users, sources = [], unaware = [], ...workspace }: Workspace): Item => ({
  ...keys.workspace(workspace.id),
  ...workspace,
  ...(users.length > 0 ? { users: new Set(users) } : {}),
  ...(sources.length > 0 ? { sources: new Set(sources) } : {}),
  ...(unaware.length > 0 ? { unaware: new Set(unaware) } : {}),
});

const members = (set: unknown): readonly string[] => [...((set as Set<string> | undefined) ?? [])];

export const workspaceFrom = (item: Item): Workspace =>
  decodeStored(workspaceRecord, {
    ...item,
    users: members(item['users']),
    ...sandboxOf(item['sandbox']),
    ...(item['sources'] === undefined ? {} : { sources: members(item['sources']) }),
    ...(item['unaware'] === undefined ? {} : { unaware: members(item['unaware']) }),
  });

const sandboxOf = (sandbox: unknown) => {
  const { untold, ...record } = (sandbox ?? {}) as Item;
  return untold === undefined ? {} : { sandbox: { ...record, untold: members(untold) } };
};

export const workspaceDue = (id: WorkspaceId, dueAt: number) => dueValues('workspace', id, dueAt);
