/** The log of a workspace beside a save: lines that are stored already, and not yet recorded as seen, are shown once. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { LiveSandbox } from '../../domain/sandbox.ts';
import { readLogs } from './read-logs.ts';
import { takeCheckpoint } from './save-workspace.ts';

const address = 'http://10.0.0.9:8080';
const lines = ['a', 'b', 'c'].map((text, index) => ({
  ...{ number: index + 1, at: 2000 + index, stream: 'stderr' as const, text },
}));

test.each([0, 1, 2, 3])('after a save that stored %i of three lines each is shown once', async (saved) => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const id = session.workspace;
  await ports.workspaces.claimStart(id, newSandbox());
  await ports.workspaces.recordAddress(id, 1, { taskArn: 't', address });
  await ports.workspaces.markReady(id, 1, { at: 1 });
  const workspace = await ports.workspaces.get(id);
  if (workspace === undefined) throw new Error('there is no such workspace');
  const archive = {
    ...ports.archive,
    save: async () => ({
      ...{ status: 'saved' as const, manifest: { id: 'm', sha256: 'a'.repeat(64) }, packs: [] },
      ...{ files: 0, bytes: 0, leftOut: [], logs: lines.slice(0, saved) },
    }),
  };
  // Its caller has not recorded the checkpoint, and with it the last line.
  await takeCheckpoint({ ...ports, archive }, { workspaceId: id, generation: 1 } as LiveSandbox, {
    workspace,
  });
  const link = { fetch: async () => Response.json({ lines }) };
  const shown = await readLogs({ ...ports, link }, session);
  expect(shown).toEqual(lines.map(({ at, stream, text }) => ({ at, stream, text })));
});
