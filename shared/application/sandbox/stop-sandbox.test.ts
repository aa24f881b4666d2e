/** The second phase of a stop: one janitor saves, and no more once ECS is asked for the stop; and starts that take too long. */
import { describe, expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ProjectId, SessionId, WorkspaceId } from '../../domain/ids.ts';
import { lossOf, type Workspace } from '../../domain/sandbox.ts';
import { agentSlots } from '../../domain/slot-holder.ts';
import { AppError } from '../../errors.ts';
import { sweep } from '../janitor/sweep-in-rounds.ts';
import { acquireSandbox } from './acquire-sandbox.ts';
import { recordStopped } from './record-stopped.ts';
import { finishStop } from './stop-sandbox.ts';

const address = 'http://10.42.0.9:8080';
const unreachable = () => Promise.reject(new AppError('sandbox_unavailable', 'it does not answer'));

const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const workspace = workspaceOf(newSession());
  const { id } = workspace;
  const saves: number[] = [];
  const { archive } = ports;
  const ownPorts = {
    ...ports,
    archive: {
      ...archive,
      save: async (...given: Parameters<typeof archive.save>) => {
        saves.push(clock.now);
        return archive.save(...given);
      },
    },
  };
  await ports.workspaces.create(workspace);
  await ports.workspaces.claimStart(id, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(id, 1, { taskArn: 'task-1', address });
  const read = async (): Promise<Workspace> => (await ports.workspaces.get(id)) ?? workspace;
  return {
    ...{ ...quiet, ports: ownPorts, id, saves, read },
    ready: () => ports.workspaces.markReady(id, 1, { at: clock.now }),
    mark: (of: WorkspaceId = id) =>
      ports.workspaces.markStopping(of, 1, { reason: 'idle', at: clock.now, dueAt: clock.now }),
    sweep: () =>
      sweep(ownPorts, {
        lifetimes,
      }),
  };
};

describe('a stop that ECS confirms late', () => {
  test('is saved once, and requested again without a save', async () => {
    const { ports, clock, saves, read, ready, mark, invoked } = await open();
    await ready();
    await mark();
    for (let look = 0; look < 4; look += 1) {
      await finishStop(ports, await read());
      clock.now += 31_000;
    }
    expect(saves).toHaveLength(1);
    expect(invoked).toEqual(Array.from({ length: 4 }, () => 'StopTask task-1'));
  });

  test('of a sandbox that does not answer is one failed save', async () => {
    const { ports, clock, read, ready, mark, counted } = await open();
    await ready();
    await mark();
    const deaf = { ...ports, archive: { ...ports.archive, save: unreachable } };
    for (let look = 0; look < 3; look += 1) {
      await finishStop(deaf, await read());
      clock.now += 31_000;
    }
    expect(counted.WorkspaceSavesFailed).toBe(1);
  });
});

test('a sandbox whose end nobody reported is stopped by the next request to ECS', async () => {
  const { ports, clock, id, read, ready, mark } = await open();
  await ready();
  await mark();
  const task = { taskArn: 'task-1', group: '', createdAt: 0, stoppedReason: 'Spot interruption' };
  for (const lastStatus of ['DEPROVISIONING', 'STOPPED']) {
    expect((await read()).sandbox?.state).toBe('stopping');
    const host = { ...ports.host, stop: async () => ({ ...task, lastStatus }) };
    await finishStop({ ...ports, host }, await read());
    clock.now += 31_000;
  }
  expect((await read()).sandbox).toMatchObject({ state: 'stopped' });
  expect((await ports.sandboxLog.read(id, 10)).at(-1)?.text).toMatch(/^sandbox 1 stopped/);
});

test('a last save that takes long is neither repeated nor interrupted by the next sweep', async () => {
  const { ports, clock, saves, read, ready, mark, invoked } = await open();
  await ready();
  await mark();
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { save } = ports.archive;
  const slow = {
    ...ports,
    archive: {
      ...ports.archive,
      save: (...given: Parameters<typeof save>) => held.then(() => save(...given)),
    },
  };
  const first = finishStop(slow, await read());
  await new Promise((resolve) => setImmediate(resolve));
  clock.now += 61_000;
  await finishStop(ports, await read());
  expect([saves.length, invoked]).toEqual([0, []]);
  finish();
  await first;
  expect([saves.length, invoked]).toEqual([1, ['StopTask task-1']]);
});

test('a last save whose janitor died is made by another', async () => {
  const { ports, clock, saves, id, read, ready, mark } = await open();
  await ready();
  await mark();
  await ports.workspaces.claimLastSave(id, 1, { at: clock.now, until: clock.now + 300_000 });
  clock.now += 299_999;
  await finishStop(ports, await read());
  expect(saves).toHaveLength(0);
  clock.now += 1;
  await finishStop(ports, await read());
  expect(saves).toHaveLength(1);
});

test('a sandbox that ends before its janitor has heard from ECS was stopped in order', async () => {
  const { ports, id, read, ready, mark } = await open();
  await ready();
  await mark();
  const stop = async () => {
    await recordStopped(ports, { workspaceId: id, generation: 1 }, 'Task stopped by user');
    throw new Error('the function was ended');
  };
  await finishStop({ ...ports, host: { ...ports.host, stop } }, await read());
  const { sandbox } = await read();
  expect([sandbox?.state, lossOf(sandbox)]).toEqual(['stopped', undefined]);
});

test('a last save whose end cannot be recorded is made again by the next sweep', async () => {
  const { ports, clock, saves, read, ready, mark, invoked } = await open();
  await ready();
  await mark();
  const recordStopRequest = () => Promise.reject(new Error('ThrottlingException'));
  const workspaces = { ...ports.workspaces, recordStopRequest };
  await expect(finishStop({ ...ports, workspaces }, await read())).rejects.toThrow('ThrottlingException');
  clock.now += 31_000;
  await finishStop(ports, await read());
  expect([saves.length, invoked]).toEqual([2, ['StopTask task-1']]);
});

test('a stop that is refused late leaves the record to the janitor that asked again', async () => {
  const { ports, clock, read, ready, mark } = await open();
  await ready();
  await mark();
  const stop = async () => {
    clock.now += 31_000;
    await finishStop(ports, await read());
    throw new Error('ThrottlingException');
  };
  await finishStop({ ...ports, host: { ...ports.host, stop } }, await read());
  expect((await read()).sandbox?.taskStopRequestedAt).toBe(clock.now - 31_000);
});

test('a last save that throws is made again by the next sweep', async () => {
  const { ports, clock, saves, read, ready, mark, invoked } = await open();
  await ready();
  await mark();
  const save = () => Promise.reject(new Error('ThrottlingException'));
  await expect(finishStop({ ...ports, archive: { ...ports.archive, save } }, await read())).rejects.toThrow(
    'ThrottlingException',
  );
  clock.now += 31_000;
  await finishStop(ports, await read());
  expect([saves.length, invoked]).toEqual([1, ['StopTask task-1']]);
});

test('a stop that ECS refuses is retried after another save, since the sandbox still runs', async () => {
  const { ports, clock, saves, read, ready, mark, invoked } = await open();
  await ready();
  await mark();
  const refusing = {
    ...ports,
    host: { ...ports.host, stop: () => Promise.reject(new Error('ThrottlingException')) },
  };
  await finishStop(refusing, await read());
  clock.now += 31_000;
  await finishStop(ports, await read());
  expect([saves.length, invoked]).toEqual([2, ['StopTask task-1']]);
});

test('a task that is recorded while its start is given up is stopped by the next sweep', async () => {
  const { ports, clock, mark, invoked } = await open();
  const workspace = workspaceOf(newSession());
  const { id } = workspace;
  await ports.workspaces.create(workspace);
  await ports.workspaces.claimStart(id, newSandbox({ requestedAt: clock.now }));
  await mark(id);
  const read = async (): Promise<Workspace> => (await ports.workspaces.get(id)) ?? workspace;
  clock.now += 120_001;
  const stale = await read();
  await ports.workspaces.recordTask(id, 1, 'task-2');
  await finishStop(ports, stale);
  expect((await read()).sandbox?.state).toBe('stopping');
  await finishStop(ports, await read());
  expect(invoked).toEqual(['StopTask task-2']);
});

describe('a sandbox that starts slowly', () => {
  test('is stopped by the sweep while it still starts', async () => {
    const { clock, read, sweep: look } = await open();
    clock.now += 180_000;
    await look();
    expect((await read()).sandbox).toMatchObject({
      state: 'stopping',
      stoppedReason: 'it took too long to start',
    });
  });

  test('is left alone when it is ready by now, whatever the index says', async () => {
    const { ports, clock, read, ready, sweep: look } = await open();
    clock.now += 180_000;
    const late = await ports.workspaces.due(clock.now, 10);
    await ready();
    ports.workspaces.due = () => Promise.resolve(late);
    await look();
    expect((await read()).sandbox?.state).toBe('ready');
  });

  test('is left alone during a restore', async () => {
    const { ports, clock, id, read, sweep: look } = await open();
    await ports.workspaces.claimRestore(id, 1, { at: clock.now + 170_000, until: clock.now + 320_000 });
    clock.now += 180_000;
    await look();
    expect((await read()).sandbox?.state).toBe('starting');
    clock.now += 140_000;
    await look();
    expect((await read()).sandbox?.state).toBe('stopping');
  });

  test('is used by a caller that read it before it was ready, and abandoned by one that finds it still starting', async () => {
    for (const isReady of [true, false]) {
      const { ports, clock, id, read, ready, invoked } = await open();
      clock.now += 180_001;
      const stale = await read();
      if (isReady) await ready();
      const { get } = ports.workspaces;
      let isFirst = true;
      ports.workspaces.get = async (of) => {
        if (!isFirst) return get(of);
        isFirst = false;
        return stale;
      };
      const request = {
        workspaceId: id,
        flavor: 'micro',
        template: 'python',
        allowSmallerFlavor: false,
        slot: {
          kind: 'agent',
          ...{ holder: agentSlots('p' as ProjectId), session: 's' as SessionId, known: {} },
        },
      } as const;
      const acquired = acquireSandbox(ports, {
        ...request,
        sessionId: request.slot.session,
      });
      if (isReady) expect((await acquired).sandbox).toMatchObject({ generation: 1, address });
      else await expect(acquired).rejects.toMatchObject({ code: 'sandbox_start_failed' });
      expect(invoked).toEqual(isReady ? [] : [`stop ${id}`]);
    }
  });
});
