/** The pins that a stop of a sandbox ends: those its workspace needs no more. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { ownedBy, sourceOfWorkspace } from '../../domain/snapshot.ts';
import { finishStop } from './stop-sandbox.ts';

/** A fork, the source of its first files, and a sandbox that stops. */
const forked = async () => {
  const { ports, clock, invoked } = openQuietPorts();
  const { workspaces } = ports;
  const checkpoint = {
    id: 'first',
    sha256: 'ab',
    savedAt: 1,
    generation: 0,
    files: 2,
    bytes: 30,
    packs: ['first'],
  };
  const source = { ...workspaceOf(newSession()), checkpoint };
  await workspaces.create(source);
  const session = newSession({ createdAt: clock.now });
  const { workspace: id } = session;
  const files = { checkpoint: ownedBy(source.id, checkpoint), sources: [source.id] };
  await ports.sessions.create(session, {
    workspace: { ...workspaceOf(session), ...files },
    source: sourceOfWorkspace(source.id, checkpoint),
  });
  await workspaces.claimStart(id, newSandbox({ requestedAt: clock.now }));
  await workspaces.recordAddress(id, 1, { taskArn: 'task', address: 'http://10.42.0.9:8080' });
  await workspaces.markReady(id, 1, { at: clock.now });
  const read = async () => {
    const workspace = await workspaces.get(id);
    if (workspace === undefined) throw new Error('the fork is not in the table');
    return workspace;
  };
  return {
    ...{ ports, clock, invoked, read },
    source: source.id,
    /** A save of all files leaves the source. */
    save: () =>
      workspaces.recordCheckpoint(
        id,
        { ...checkpoint, id: 'own', packs: ['own'], generation: 1 },
        { id: checkpoint.id },
      ),
    mark: () => workspaces.markStopping(id, 1, { reason: 'idle', at: clock.now, dueAt: clock.now }),
    ended: async (): Promise<readonly WorkspaceId[]> =>
      (await workspaces.duePins(clock.now, 10)).map(({ owner }) => owner),
  };
};

test('SN3: a fork that has saved all files itself holds no pin on its source after its sandbox stopped', async () => {
  const { ports, read, save, mark, ended, source } = await forked();
  await save();
  await mark();
  await finishStop(ports, await read());
  expect((await read()).sources).toBeUndefined();
  expect(await ended()).toEqual([source]);
});

test('a fork that needs files of its source keeps its pin', async () => {
  const { ports, read, mark, ended, source } = await forked();
  await mark();
  await finishStop(ports, await read());
  expect((await read()).sources).toEqual([source]);
  expect(await ended()).toEqual([]);
});

test('a sandbox whose sources cannot be settled is stopped all the same', async () => {
  const { ports, read, save, mark, invoked } = await forked();
  await save();
  await mark();
  const releaseSources = () => Promise.reject(new Error('the table refuses it'));
  const failing = { ...ports, workspaces: { ...ports.workspaces, releaseSources } };
  await expect(finishStop(failing, await read())).rejects.toThrow('the table refuses it');
  expect(invoked).toEqual(['StopTask task']);
});
