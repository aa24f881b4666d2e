/** The orphan sweep beside a session that claims the warm sandbox it looks at. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { orphanAgeMs } from '../../domain/limits.ts';
import { poolEntries } from '../../domain/pool.ts';
import { startedFor } from '../sandbox/sandbox-request.ts';
import { startSandbox } from '../sandbox/start-sandbox.ts';
import { sweepOrphans } from './sweep-orphans.ts';

const [entry] = poolEntries(1);

const open = async () => {
  const { ports, clock, hooks } = openQuietPorts();
  if (entry === undefined) throw new Error('the pool has no entry');
  await ports.workspaces.create({ ...workspaceOf(newSession()), id: entry, users: [] });
  await ports.workspaces.claimStart(entry, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(entry, 1, { taskArn: 'warm', address: 'http://127.0.0.1:1' });
  await ports.workspaces.markReady(entry, 1, { at: clock.now });
  const stopped: string[] = [];
  const running = {
    ...{ taskArn: 'warm', group: `workspace/${entry}/1`, createdAt: clock.now, lastStatus: 'RUNNING' },
  };
  const host = {
    ...ports.host,
    stop: async (taskArn: string) => void stopped.push(taskArn),
    running: async function* () {
      yield [running];
    },
  };
  clock.now += orphanAgeMs + 1;
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  const claim = async (): Promise<void> => {
    const workspace = await ports.workspaces.get(made.workspace);
    if (workspace === undefined) throw new Error('the workspace is not there');
    await startSandbox({ ...ports, host, poolSize: 1 }, workspace, {
      ...startedFor(made),
    });
  };
  const sweep = (poolSize: number) => sweepOrphans({ ...ports, host }, { poolSize });
  const taskOf = async () => (await ports.workspaces.get(made.workspace))?.sandbox?.taskArn;
  return { hooks, stopped, claim, sweep, taskOf };
};

test('a warm sandbox is left alone that is claimed between the read of its claim and that of its record', async () => {
  const { hooks, stopped, claim, sweep, taskOf } = await open();
  hooks.before = async ({ constructor: { name } }) => {
    if (name !== 'BatchGetCommand') return;
    hooks.before = async () => undefined;
    await claim();
  };
  await sweep(1);
  expect([await taskOf(), stopped]).toEqual(['warm', []]);
});

test('one of a pool that has become smaller is stopped', async () => {
  const { stopped, sweep } = await open();
  expect(await sweep(0)).toMatchObject({ stopped: 1 });
  expect(stopped).toEqual(['warm']);
});
