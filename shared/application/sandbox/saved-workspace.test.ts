/** A workspace that cannot be saved for a snapshot or a fork: the advice is to try again only where that can help. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { defaultProject, deploymentOwner } from '../../domain/principal.ts';
import type { SandboxRecord, Workspace } from '../../domain/sandbox.ts';
import type { AppError } from '../../errors.ts';
import { savedWorkspace } from './saved-workspace.ts';

const id = 'w' as WorkspaceId;
const live = { state: 'ready', generation: 1, address: 'http://10.42.0.9:8080', flavor: 'small', readyAt: 1 };
const workspace: Workspace = {
  ...{ id, owner: deploymentOwner, project: defaultProject, createdAt: 1, users: [] },
  sandbox: live as SandboxRecord,
};

test.each([
  ['sandbox_unavailable', { suggestions: ['Try again.'], recoveryActions: ['retry_operation'] }],
  ['resource_limit_exceeded', { suggestions: ['Delete files that are not needed, then try again.'] }],
  ['internal_error', { suggestions: ['Tell an operator: another try fails as well.'] }],
])('%s: %j', async (code, details) => {
  const { ports } = openQuietPorts();
  const save = async () => ({ status: 'refused' as const, code, message: 'no' });
  const broken = {
    ...ports,
    archive: { ...ports.archive, save },
    workspaces: { ...ports.workspaces, get: async () => workspace },
  };
  const failure = await savedWorkspace(broken, id).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code, message: 'the workspace could not be saved: no' });
  expect((failure as AppError).details).toEqual(details);
});
