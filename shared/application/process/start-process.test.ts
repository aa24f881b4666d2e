/** L5: a sandbox that was started for a program gives way to nobody before the program has begun. */
import { describe, expect, test } from 'vitest';
import {
  newExecution,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { firstProcessMs, processCommandCharactersMax } from '../../domain/limits.ts';
import { slotHolderOf } from '../../domain/slot-holder.ts';
import { makeRoom } from '../sandbox/make-room.ts';
import { runProgram } from './run-program.ts';
import { recordProcess, startProcess } from './start-process.ts';

test('another session takes the sandbox neither before its program begins nor while it runs', async () => {
  const quiet = openQuietPorts();
  const { clock } = quiet;
  const session = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  await quiet.ports.sessions.create(session, { workspace: workspaceOf(session) });
  const asked: boolean[] = [];
  const running: object[] = [];
  const link = {
    fetch: async (_: unknown, { method }: { readonly method: string }): Promise<Response> => {
      if (method === 'GET') return Response.json({ processes: running });
      await another();
      const processId = crypto.randomUUID();
      running.push({
        processId,
        command: 'true',
        state: 'running',
        pid: 7,
        startedAt: 1,
        isPty: false,
        attached: 0,
      });
      await another();
      return Response.json({});
    },
  };
  const ports = { ...quiet.ports, link };
  let isAsking = false;
  /** Another session comes: before each request to the table and to the sandbox, and once the program runs. */
  const another = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    asked.push(await makeRoom(ports, request));
    isAsking = false;
  };
  quiet.hooks.before = another;
  const request = { holder: slotHolderOf(session) };
  const opening = { lifetimes: ports.lifetimes };
  await startProcess(ports, session, { opening, isRecorded: false, program: { command: 'true' } });
  quiet.hooks.before = async () => undefined;
  expect(asked.length).toBeGreaterThan(5);
  expect(new Set(asked)).toEqual(new Set([false]));
  running.length = 0;
  clock.now += firstProcessMs;
  expect(await makeRoom(ports, request)).toBe(true);
});

test('a program that outlives its request is recorded with the time at which it was started', async () => {
  const quiet = openQuietPorts();
  const { clock } = quiet;
  const session = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  await quiet.ports.sessions.create(session, { workspace: workspaceOf(session) });
  let startedAt = 0;
  const link = {
    fetch: async (_: unknown, { path }: { readonly path: string }): Promise<Response> => {
      if (path !== '/processes') return Response.json({});
      startedAt = clock.now;
      clock.now += 40_000;
      return Response.json({}, { status: 202 });
    },
  };
  const opening = { lifetimes: quiet.ports.lifetimes };
  const ran = await runProgram({ ...quiet.ports, link }, session, { opening, program: { command: 'x' } });
  expect(ran).toMatchObject({ status: 'continues' });
  expect(await quiet.ports.processes.list(session.workspace)).toMatchObject([{ startedAt }]);
});

test('a long command is recorded without half of a character, which no table takes', async () => {
  const { ports } = openQuietPorts();
  const session = newSession();
  const sandbox = {
    workspaceId: session.workspace,
    generation: 1,
    address: 'http://a',
    flavor: 'small',
  } as const;
  // Each emoji has two units, and the first one begins at an odd place.
  const program = { command: 'x', args: ['😀'.repeat(processCommandCharactersMax)] };
  for (const command of ['x', 'xx']) {
    const recorded = { id: command, sandbox, program: { ...program, command }, startedAt: 1 };
    await recordProcess(ports, session, recorded);
    const kept = await ports.processes.get(session.workspace, command);
    expect(kept?.command.isWellFormed()).toBe(true);
    expect(kept?.command).toHaveLength(processCommandCharactersMax);
  }
});

describe('L5: a program that starts in a sandbox which is ready', () => {
  /** An execution session and its sandbox, whose first program starts. The next sign of life costs no write. */
  const idle = async () => {
    const { ports, clock, hooks } = openQuietPorts();
    const session = newExecution({ status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
    const { id, workspace } = session;
    const holder = slotHolderOf(session);
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
    const sandbox = newSandbox({ requestedAt: clock.now, slot: { holder, session: id } });
    await ports.workspaces.claimStart(workspace, sandbox, { known: {}, slotsMax: 1 });
    const address = 'http://10.42.0.9:8080';
    await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address });
    await ports.workspaces.markReady(workspace, 1, { at: clock.now });
    clock.now += firstProcessMs;
    await ports.sessions.touch(session, { at: clock.now, lifetimes: ports.lifetimes });
    clock.now += 4000;
    const touched = await ports.sessions.get(id);
    if (touched === undefined) throw new Error('the session is not in the table');
    const asked: number[] = [];
    const inside = { before: async (_method: string): Promise<void> => undefined };
    const running = () =>
      asked.map(() => ({
        ...{ processId: crypto.randomUUID(), command: 'sleep 9', state: 'running', pid: 7, startedAt: 1 },
        ...{ isPty: false, attached: 0 },
      }));
    const link = {
      fetch: async (
        { generation }: { readonly generation: number },
        { method }: { readonly method: string },
      ) => {
        await inside.before(method);
        const processes = running();
        if (method === 'POST') asked.push(generation);
        return Response.json({ processes });
      },
    };
    const own = { ...ports, link };
    const opening = { lifetimes: ports.lifetimes };
    return {
      ...{ ports: own, workspace, hooks, asked, inside },
      evict: () => makeRoom(own, { holder }),
      start: () =>
        startProcess(own, touched, { opening, isRecorded: true, program: { command: 'sleep', args: ['9'] } }),
      read: async () => (await ports.workspaces.get(workspace))?.sandbox,
    };
  };

  test('keeps that when another session has asked for its slot just before', async () => {
    const { hooks, evict, start, read, asked } = await idle();
    hooks.before = async ({ constructor: { name } }) => {
      if (name !== 'TransactWriteCommand') return;
      hooks.before = async () => undefined;
      await start();
    };
    expect(await evict()).toBe(false);
    expect(await read()).toMatchObject({ state: 'ready', hasProcesses: true });
    expect(asked).toEqual([1]);
  });

  test.each(['asks it for the last time', 'stops it'])(
    'keeps it with a second process that begins as another session %s',
    async (moment) => {
      const { ports, workspace, hooks, inside, evict, start, read, asked } = await idle();
      await ports.workspaces.recordProcesses(workspace, 1);
      const begin = async (): Promise<void> => {
        hooks.before = async () => undefined;
        inside.before = async () => undefined;
        await start();
      };
      let looks = 0;
      inside.before = async () => {
        looks += 1;
        if (looks === 2 && moment !== 'stops it') await begin();
      };
      hooks.before = async ({ constructor: { name } }) => {
        if (name === 'TransactWriteCommand') await begin();
      };
      expect(await evict()).toBe(false);
      expect([(await read())?.state, asked]).toEqual(['ready', [1]]);
    },
  );

  test('keeps it with a second process that was under way to it as it was marked', async () => {
    const { ports, workspace, hooks, inside, evict, start, read, asked } = await idle();
    await ports.workspaces.recordProcesses(workspace, 1);
    const [sent, marked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let started: Promise<unknown> | undefined;
    let isSent = false;
    hooks.before = async (command) => {
      if (!JSON.stringify(command.input).includes('idleCheck')) return;
      hooks.before = async () => undefined;
      inside.before = async (method) => {
        if (method === 'POST') {
          isSent = true;
          sent.resolve();
          await marked.promise;
        } else if (isSent) {
          marked.resolve();
          await started;
        }
      };
      started = start();
      await sent.promise;
    };
    expect(await evict()).toBe(false);
    expect([(await read())?.state, asked]).toEqual(['ready', [1]]);
  });

  test('starts in the next one when that gave way just before', async () => {
    const { ports, workspace, hooks, evict, start, read, asked } = await idle();
    hooks.before = async (command) => {
      if (!JSON.stringify(command.input).includes('hasProcesses')) return;
      hooks.before = async () => undefined;
      expect(await evict()).toBe(true);
      await ports.workspaces.markStopped(workspace, 1, { reason: 'it gave way', at: 1 });
    };
    await start();
    expect(asked).toEqual([2]);
    expect(await read()).toMatchObject({ state: 'ready', generation: 2 });
  });
});
