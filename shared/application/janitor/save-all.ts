/**
 * The end of a platform on one machine, with which its sandboxes end: every workspace whose sandbox runs here is saved first.
 * Nothing is marked: the next start finds that the tasks are gone (L9).
 */

import { isPoolEntry } from '../../domain/pool.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import type { StopDeps } from '../deps.ts';
import { saveWorkspace } from '../sandbox/save-workspace.ts';
import { savable } from '../sandbox/saved-workspace.ts';

export type AllSaved = { readonly saved: number; readonly failed: number };

export const saveAll = async (ports: StopDeps): Promise<AllSaved> => {
  const saves = (await runningHere(ports)).map(({ workspace, sandbox }) =>
    saveWorkspace(ports, sandbox, { workspace }),
  );
  let failed = 0;
  for (const result of await Promise.allSettled(saves)) {
    if (result.status === 'fulfilled' && result.value.status === 'saved') continue;
    failed += 1;
    if (result.status === 'rejected')
      ports.telemetry.error('a workspace was not saved at the end', { error: result.reason });
  }
  return { saved: saves.length - failed, failed };
};

type Running = { readonly workspace: Workspace; readonly sandbox: LiveSandbox };

/** Others may share the table: the tasks are those of this host. Nothing of a trial is kept, and a warm sandbox has no files. */
const runningHere = async ({ host, workspaces, telemetry }: StopDeps): Promise<readonly Running[]> => {
  const tasks = new Set<string | undefined>();
  for await (const page of host.running()) for (const { taskArn } of page) tasks.add(taskArn);
  if (tasks.size === 0) return [];
  const found: Running[] = [];
  const onUnreadable = (error: unknown): void =>
    telemetry.error('a record of a workspace cannot be read', { error });
  for await (const page of workspaces.live(onUnreadable))
    for (const workspace of page) {
      const { id, sandbox: record } = workspace;
      if (isPoolEntry(id) || record?.isTrial || !tasks.has(record?.taskArn)) continue;
      const sandbox = savable(id, record);
      if (sandbox !== undefined) found.push({ workspace, sandbox });
    }
  return found;
};
