/** Remains of a deleted workspace: objects of a late save are deleted, too, and nothing is left of the deletion itself (SN3). */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { deletionWaitMsMax, lateSaveMsMax, pinsQuietMs, stopRetryMs } from '../../domain/limits.ts';
import { forgetFilesAtRest, forgetWorkspace } from '../sandbox/forget-workspace.ts';
import { recordStopped } from '../sandbox/record-stopped.ts';
import { forgetSession } from '../session/forget-session.ts';
import { sweep } from './sweep-in-rounds.ts';

/** A bucket of which only the owners of objects matter. */
const open = () => {
  const quiet = openQuietPorts();
  const { ports, memory } = quiet;
  const stored = new Set<WorkspaceId>();
  const forget = async (id: WorkspaceId): Promise<void> => void stored.delete(id);
  /** As while others fork a snapshot of it. */
  const pins = { areMade: false };
  const workspaces: typeof ports.workspaces = {
    ...ports.workspaces,
    settledPins: async (...asked) => (pins.areMade ? undefined : ports.workspaces.settledPins(...asked)),
  };
  const saving = { ...ports, workspaces, archive: { ...ports.archive, forget } };
  const left = (id: WorkspaceId) => memory.partition(`WORKSPACE#${id}`).map(({ sk }) => sk);
  const look = () => sweep(saving, { lifetimes });
  return { ...quiet, ports: saving, pins, stored, left, look };
};

type Opened = ReturnType<typeof open>;

const deletions: readonly (readonly [string, (opened: Opened) => Promise<WorkspaceId>])[] = [
  [
    'a named workspace',
    async ({ ports, clock }) => {
      const named = { ...workspaceOf(newSession()), users: [], isNamed: true as const };
      await ports.workspaces.makeNamed(named);
      await ports.workspaces.markDeleted(named, clock.now, []);
      expect(await forgetWorkspace(ports, named.id)).toBe(true);
      return named.id;
    },
  ],
  [
    'the workspace of a session',
    async ({ ports, clock }) => {
      const session = newSession({ status: 'completed', createdAt: clock.now });
      await ports.sessions.create(session, { workspace: workspaceOf(session) });
      const forgetFiles = (id: WorkspaceId) => forgetFilesAtRest(ports, id);
      expect(await forgetSession({ ...ports, forgetFiles }, session)).toBe(true);
      return session.workspace;
    },
  ],
];

test.each(deletions)('SN3: a save that ends after the deletion of %s leaves nothing', async (_, deleted) => {
  const opened = open();
  const { clock, stored, left, look } = opened;
  const id = await deleted(opened);
  stored.add(id);
  clock.now += lateSaveMsMax - 1;
  await look();
  expect([...stored]).toEqual([id]);
  clock.now += 1;
  expect(await look()).toEqual({ due: 1, failed: 0 });
  expect([...stored]).toEqual([]);
  expect(left(id)).toEqual([]);
  expect(await look()).toEqual({ due: 0, failed: 0 });
});

/** A named workspace with saved files, closed by a caller that did no more. */
const closed = async ({ ports, clock, stored }: Opened, prepare = async (_id: WorkspaceId) => undefined) => {
  const named = { ...workspaceOf(newSession()), users: [], isNamed: true as const };
  await ports.workspaces.makeNamed(named);
  stored.add(named.id);
  await prepare(named.id);
  await ports.workspaces.markDeleted(named, clock.now, []);
  return named.id;
};

const startedIn = async ({ ports, clock }: Opened, id: WorkspaceId): Promise<undefined> => {
  const session = newSession({ workspace: id });
  const { project, owner } = (await ports.workspaces.get(id)) ?? session;
  await ports.sessions.create({ ...session, project, owner }, { enters: {} });
  await ports.workspaces.claimStart(id, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(id, 1, { taskArn: 'task-1', address: 'http://10.42.0.9:8080' });
  await ports.workspaces.markReady(id, 1, { at: clock.now });
  await ports.sessions.end(session, { status: 'completed', at: clock.now, dueAt: clock.now * 9 });
  await ports.workspaces.leave(id, session.id);
};

test('SN3: a deletion whose caller died once the workspace was closed is finished by the sweep', async () => {
  const opened = open();
  const { ports, clock, stored, left, look } = opened;
  const id = await closed(opened);
  expect(await look()).toEqual({ due: 0, failed: 0 });
  clock.now += deletionWaitMsMax;
  expect(await look()).toEqual({ due: 1, failed: 0 });
  expect([...stored]).toEqual([]);
  expect(await ports.workspaces.get(id)).toBeUndefined();
  expect(left(id)).toEqual(['REMAINS']);
  clock.now += lateSaveMsMax;
  expect(await look()).toEqual({ due: 1, failed: 0 });
  expect(left(id)).toEqual([]);
});

test('SN3: the sandbox of such a workspace is stopped first, and its files stay until it has', async () => {
  const opened = open();
  const { ports, clock, stored, invoked, look } = opened;
  const id = await closed(opened, (made) => startedIn(opened, made));
  clock.now += deletionWaitMsMax;
  await look();
  expect((await ports.workspaces.get(id))?.sandbox?.state).toBe('stopping');
  clock.now += stopRetryMs;
  await look();
  expect(invoked).toContain('StopTask task-1');
  expect([...stored]).toEqual([id]);
  await recordStopped(ports, { workspaceId: id, generation: 1 }, 'asked');
  clock.now += stopRetryMs;
  await look();
  expect([...stored]).toEqual([]);
  expect(await ports.workspaces.get(id)).toBeUndefined();
});

test('SN1: a workspace that lives keeps its files, whatever remains of one under its id', async () => {
  const opened = open();
  const { clock, stored, look, ports } = opened;
  const [, deleted] = deletions[0] as (typeof deletions)[number];
  const id = await deleted(opened);
  await ports.workspaces.create({ ...workspaceOf(newSession()), id });
  stored.add(id);
  clock.now += lateSaveMsMax;
  expect(await look()).toEqual({ due: 1, failed: 0 });
  expect([...stored]).toEqual([id]);
});

test('SN3: a bucket that refuses is asked again by a later sweep', async () => {
  const opened = open();
  const { ports, clock, stored, left, look } = opened;
  const [, deleted] = deletions[0] as (typeof deletions)[number];
  const id = await deleted(opened);
  stored.add(id);
  const { forget } = ports.archive;
  ports.archive.forget = () => Promise.reject(new Error('the bucket is away'));
  clock.now += lateSaveMsMax;
  expect(await look()).toEqual({ due: 1, failed: 1 });
  ports.archive.forget = forget;
  clock.now += 60_000;
  expect(await look()).toEqual({ due: 1, failed: 0 });
  expect([...stored]).toEqual([]);
  expect(left(id)).toEqual([]);
});

test.each(deletions)(
  'SN3: a sweep waits for no pins of %s, and a later one forgets its files',
  async (_, deleted) => {
    const opened = open();
    const { clock, warned, pins, stored, left, look } = opened;
    pins.areMade = true;
    const begunAt = clock.now;
    const id = await deleted(opened);
    expect(clock.now - begunAt).toBeLessThan(3 * pinsQuietMs);
    stored.add(id);
    clock.now += lateSaveMsMax;
    for (const _sweep of [1, 2, 3]) {
      const sweptAt = clock.now;
      expect(await look()).toEqual({ due: 1, failed: 0 });
      expect(clock.now).toBe(sweptAt);
      clock.now += stopRetryMs;
    }
    expect([...stored]).toEqual([id]);
    pins.areMade = false;
    expect(await look()).toEqual({ due: 1, failed: 0 });
    expect([...stored]).toEqual([]);
    expect(left(id)).toEqual([]);
    expect(warned).toEqual([]);
  },
);
