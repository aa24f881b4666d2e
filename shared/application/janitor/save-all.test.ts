/** The end of a platform on one machine: the workspaces of the sandboxes that run are saved, and no other. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { AppError } from '../../errors.ts';
import { saveAll } from './save-all.ts';

const unchanged = { status: 'unchanged', leftOut: [], logs: [] } as const;

const open = () => {
  const { ports, clock } = openQuietPorts();
  const tasks: string[] = [];
  const asked: WorkspaceId[] = [];
  const host = {
    ...ports.host,
    running: async function* () {
      yield tasks.map((taskArn) => ({ taskArn, group: '', lastStatus: 'RUNNING', createdAt: 0 }));
    },
  };
  const startOne = async (more: { readonly isTrial?: true; readonly isReady?: false } = {}) => {
    const { isReady = true, ...given } = more;
    const session = newSession({ createdAt: clock.now });
    const { workspace } = session;
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
    await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now, ...given }));
    const taskArn = `task ${workspace}`;
    await ports.workspaces.recordAddress(workspace, 1, { taskArn, address: 'http://10.0.0.1:8080' });
    if (isReady) await ports.workspaces.markReady(workspace, 1, { at: clock.now });
    tasks.push(taskArn);
    return workspace;
  };
  const save = (refused?: WorkspaceId) =>
    saveAll({
      ...ports,
      host,
      archive: {
        ...ports.archive,
        save: async ({ workspaceId }) => {
          asked.push(workspaceId);
          if (workspaceId === refused) throw new AppError('sandbox_unavailable', 'it is silent');
          return unchanged;
        },
      },
    });
  return { asked, tasks, startOne, save };
};

test('every sandbox that is ready is saved; one that cannot be is counted', async () => {
  const { asked, startOne, save } = open();
  const ids = [await startOne(), await startOne(), await startOne()];
  expect(await save(ids[1])).toEqual({ saved: 2, failed: 1 });
  expect(asked.toSorted()).toEqual(ids.toSorted());
});

test('one that starts, a trial, and one whose task is not of this host are not', async () => {
  const { asked, tasks, startOne, save } = open();
  await startOne({ isReady: false });
  await startOne({ isTrial: true });
  await startOne();
  tasks.pop();
  expect(await save()).toEqual({ saved: 0, failed: 0 });
  expect(asked).toEqual([]);
});
