/** The files of a checkpoint: one that only writes them anew names the first that had them. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { defaultProject, deploymentOwner } from '../../domain/principal.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import { takeCheckpoint } from './save-workspace.ts';

const id = 'w' as WorkspaceId;
const before: Checkpoint = {
  ...{ id: 'first', sha256: 'f'.repeat(64), savedAt: 1, generation: 1, files: 1, bytes: 1, packs: ['first'] },
};
const workspace: Workspace = {
  ...{ id, owner: deploymentOwner, project: defaultProject, createdAt: 1, users: [] },
};

test.each([
  [undefined, before, undefined],
  [true, undefined, undefined],
  [true, before, 'first'],
  [true, { ...before, id: 'second', sameAs: 'first' }, 'first'],
] as const)('with the same files: %s, behind %j, it names %s', async (hasSameFiles, checkpoint, sameAs) => {
  const { ports } = openQuietPorts();
  const manifest = { id: 'next', sha256: 'a'.repeat(64) };
  const archive = {
    ...ports.archive,
    save: async () => ({
      ...{ status: 'saved' as const, manifest, files: 1, bytes: 1, packs: ['next'], leftOut: [], logs: [] },
      ...(hasSameFiles === undefined ? {} : { hasSameFiles }),
    }),
  };
  const sandbox = { workspaceId: id, generation: 1 } as LiveSandbox;
  const saved = { ...workspace, ...(checkpoint === undefined ? {} : { checkpoint }) };
  const taken = await takeCheckpoint({ ...ports, archive }, sandbox, { workspace: saved });
  expect(taken.note?.checkpoint.id).toBe('next');
  expect(taken.note?.checkpoint.sameAs).toBe(sameAs);
});
