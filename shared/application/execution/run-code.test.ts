/** Code in a session: an interrupted call is told, an agent session stays active, and its status is its turn's. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { SandboxTools } from '../../ports/sandbox.ts';
import { runCode } from './run-code.ts';

const structured = {
  stdout: '',
  stderr: '',
  exit_code: 0,
  execution_time_ms: 1,
  results: [{ 'text/plain': '2' }],
};
const request = {
  ...({ code: '1 + 1', language: 'python', timeoutSeconds: 3600 } as const),
  lifetimes,
} as const;

const open = async () => {
  const quiet = openQuietPorts();
  const { clock, ports } = quiet;
  const session = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const task = { taskArn: 'task', address: 'http://10.42.0.9:8080' };
  await ports.workspaces.claimStart(session.workspace, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(session.workspace, 1, task);
  await ports.workspaces.markReady(session.workspace, 1, { at: clock.now });
  return { ...quiet, session };
};

test('an agent session runs code and keeps its status', async () => {
  const { ports, session } = await open();
  const asked: unknown[] = [];
  const tools = fake<SandboxTools>({
    call: async ({ name, args }) => {
      asked.push([name, args]);
      return { status: 'finished', content: [], structured };
    },
  });
  const { program, notices } = await runCode({ ...ports, tools }, session, { ...request, context: 'a' });
  expect([program.exitCode, program.results, notices]).toEqual([0, [{ 'text/plain': '2' }], []]);
  const args = { code: '1 + 1', language: 'python', results: true, timeout: 3600, context: 'a' };
  expect(asked).toEqual([['execute_code', args]]);
  expect((await ports.sessions.get(session.id))?.status).toBe('created');
});

test('code that was interrupted with its request says so', async () => {
  const { ports, session } = await open();
  const late = new AbortController();
  const error = { type: 'cancelled', message: 'cancelled' };
  const tools = fake<SandboxTools>({
    call: async () => {
      late.abort();
      return { status: 'finished', content: [], structured: { ...structured, exit_code: null, error } };
    },
  });
  const { program, notices } = await runCode({ ...ports, tools }, session, {
    ...request,
    signal: late.signal,
  });
  expect(program.failure?.type).toBe('cancelled');
  expect(notices).toEqual([expect.stringContaining('interrupted after 840 s')]);
});

test('L5: code that runs is saved and keeps its session active, also after a request that was refused', async () => {
  const { ports, session, warned, clock } = await open();
  const over = Promise.withResolvers<void>();
  const done = { saves: 0, touches: 0 };
  let isBegun = false;
  const refusedFirst = async (kind: keyof typeof done): Promise<void> => {
    if (isBegun) done[kind] += 1;
    if (done.saves > 2 && done.touches > 2) over.resolve();
    if (isBegun && done[kind] === 1) throw new Error('throttled');
  };
  const { archive, sessions } = ports;
  const world = {
    ...ports.world,
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      if (signal?.aborted) return;
      clock.now += milliseconds;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const failing = {
    ...{ ...ports, world },
    archive: fake<typeof archive>({
      save: async (...given) => {
        await refusedFirst('saves');
        return archive.save(...given);
      },
    }),
    sessions: {
      ...sessions,
      touch: async (...given: Parameters<typeof sessions.touch>) => {
        await refusedFirst('touches');
        return sessions.touch(...given);
      },
    },
    tools: fake<SandboxTools>({
      call: async () => {
        isBegun = true;
        await over.promise;
        return { status: 'finished', content: [], structured };
      },
    }),
  };
  await runCode(failing, session, request);
  expect([...warned].sort()).toEqual([
    'a checkpoint was not renewed',
    'the activity of a session was not renewed',
  ]);
});
