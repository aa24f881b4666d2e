/** L5: a sandbox that was started for a program gives way to nobody before the program has begun. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { firstProcessMs } from '../../domain/limits.ts';
import { slotHolderOf } from '../../domain/slot-holder.ts';
import { makeRoom } from '../sandbox/make-room.ts';
import { startProcess } from './start-process.ts';

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
