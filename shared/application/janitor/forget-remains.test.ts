/** Remains of a deleted workspace: objects of a late save are deleted, too, and nothing is left of the deletion itself (SN3). */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { lateSaveMsMax, pinsQuietMs, stopRetryMs } from '../../domain/limits.ts';
import { forgetFilesAtRest } from '../sandbox/forget-files.ts';
import { forgetWorkspace } from '../sandbox/forget-workspace.ts';
import { forgetSession } from '../session/forget-session.ts';
import { sweep } from './sweep.ts';

const lifetimes = {
  idleMs: 900_000,
  executionIdleMs: 900_000,
  historyMs: 86_400_000,
  pausedMs: 604_800_000,
  waitStopMs: 900_000,
};

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
      await ports.workspaces.markDeleted(named, clock.now);
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
