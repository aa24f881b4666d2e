/** A caller that must answer sooner than a sandbox may start is told so in time, whatever the wait is for. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { SandboxDeps } from '../deps.ts';
import { acquireWithin } from './acquire-sandbox.ts';
import { startedFor } from './sandbox-request.ts';

const session = newSession();

/** A clock of its own that moves when nothing else can: the shortest sleeper wakes first. */
const openClock = () => {
  const sleepers: { at: number; wake: () => void }[] = [];
  let now = 1_000_000;
  const next = (): void => {
    const [first] = sleepers.sort((one, other) => one.at - other.at).splice(0, 1);
    if (first === undefined) return;
    now = first.at;
    first.wake();
  };
  const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      sleepers.push({ at: now + milliseconds, wake: resolve });
      signal?.addEventListener('abort', () => resolve());
      setImmediate(next);
    });
  return { now: () => now, sleep, next };
};

/** Ports of a workspace whose sandbox stays as it is. */
const portsOf = (get: (id: WorkspaceId) => Promise<object>) => {
  const world = openClock();
  const ports = {
    world,
    workspaces: { get },
    sessions: { get: async () => session },
  } as unknown as SandboxDeps;
  return { ports, world };
};
const request = { ...startedFor(session) };
const workspace = workspaceOf(session);

test('of a sandbox that does not become ready', async () => {
  const { ports } = portsOf(async () => ({ ...workspace, sandbox: { state: 'stopping', generation: 1 } }));
  await expect(acquireWithin(ports, request, 45_000)).rejects.toMatchObject({ code: 'sandbox_starting' });
  expect(ports.world.now()).toBeLessThan(1_000_000 + 50_000);
});

test('of a check of it that never ends', async () => {
  const { ports, world } = portsOf(async () => ({
    ...workspace,
    sandbox: { state: 'stopped', generation: 1 },
  }));
  Object.assign(ports, {
    workspaces: { ...ports.workspaces, claimStart: () => new Promise(() => undefined) },
  });
  const acquired = acquireWithin(ports, request, 45_000);
  world.next();
  await expect(acquired).rejects.toMatchObject({ code: 'sandbox_starting' });
});
