/** A program over REST, on a clock of its own: no answer is silent for longer than the proxies in front of the function wait. */
import { expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { newSession, workspaceOf } from '../../tests/conformance/session-fixture.ts';
import type { SessionSandboxPorts, SessionSandboxSettings } from './acquire-for-request.ts';
import type { ApiEvent } from './api-route.ts';
import { programRoutes } from './program-routes.ts';

const beganAt = 1_000_000;
const session = { ...newSession(), status: 'running' as const };
const settings = {
  lifetimes: { idleMs: 600_000, executionIdleMs: 600_000 },
} as unknown as SessionSandboxSettings;

type Asked = { readonly path: string; readonly body: string };
type Options = {
  readonly answer?: (asked: Asked) => Response;
  readonly silenceMs?: number;
  /** Absent: a workspace that is saved for long. */
  readonly save?: () => Promise<unknown>;
};

/** The sandbox becomes ready at this time; each sleep passes at once, the shortest first. */
const openRoutes = (readyAt: number, options: Options = {}) => {
  const { answer = () => Response.json({ id: 'p' }, { status: 202 }) } = options;
  const { save = () => new Promise(() => undefined) } = options;
  const read: string[] = [];
  const warned: string[] = [];
  let now = beganAt;
  const sleepers: { at: number; wake: () => void }[] = [];
  const next = (): void => {
    const [first] = sleepers.sort((one, other) => one.at - other.at).splice(0, 1);
    if (first === undefined) return;
    now = Math.max(now, first.at);
    first.wake();
  };
  const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      sleepers.push({ at: now + milliseconds, wake: resolve });
      signal?.addEventListener('abort', () => resolve());
      setImmediate(next);
    });
  const sandbox = () =>
    now < readyAt
      ? { state: 'stopping', generation: 1 }
      : { state: 'ready', generation: 2, address: '10.0.0.1', seenAt: now, readyAt: now, hasProcesses: true };
  const asked: Asked[] = [];
  const done = async () => undefined;
  const ports = {
    world: { now: () => now, sleep, uuid: () => crypto.randomUUID() },
    turns: { getWithTurn: async () => ({ session, turn: {} }) },
    sessions: { get: async () => session, touch: done, recordRunning: done, recordReady: done },
    workspaces: {
      get: async (id: string) => {
        read.push(id);
        return { ...workspaceOf(session), sandbox: sandbox() };
      },
      recordProcesses: done,
    },
    processes: { put: done },
    archive: { save },
    telemetry: { duration: done, warn: (message: string) => warned.push(message) },
    link: {
      fetch: async (_sandbox: object, request: Asked) => {
        asked.push(request);
        return answer(request);
      },
    },
  } as unknown as SessionSandboxPorts;
  const routes = programRoutes({ ports, settings, ...options });
  const call = async (name: 'exec' | 'processes', accept = 'application/json') => {
    const event = {
      httpMethod: 'POST',
      pathParameters: { id: session.id },
      headers: { accept },
      body: JSON.stringify({ command: 'true' }),
      requestContext: { requestId: 'r' },
      principal: { kind: 'admin', scope: 'admin' },
    } as unknown as ApiEvent;
    return await routes.find(({ path }) => path.endsWith(`/${name}`))?.handler(event);
  };
  return { call, asked, read, warned, passed: () => now - beganAt };
};

test.each([
  ['exec', 'application/json'],
  ['exec', 'text/event-stream'],
  ['processes', 'application/json'],
] as const)('%s with %s whose sandbox is late is told so in time', async (name, accept) => {
  const { call, passed } = openRoutes(beganAt + 100_000);
  await expect(call(name, accept)).rejects.toMatchObject({ code: 'sandbox_starting' });
  expect(passed()).toBeLessThan(50_000);
});

test('a program is waited for as long as its sandbox has left of the time', async () => {
  const { call, asked } = openRoutes(beganAt + 30_000);
  expect(await call('exec')).toMatchObject({ statusCode: 202 });
  const { waitMs } = JSON.parse(asked[0]?.body ?? '{}') as { waitMs: number };
  expect(waitMs).toBeGreaterThan(10_000);
  expect(waitMs).toBeLessThanOrEqual(15_000);
});

const output = { stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false };
const ended = { exitCode: 0, signal: null, ...output, durationMs: 1 };

test('while the workspace is saved after a program, the answer has begun', async () => {
  const { call } = openRoutes(beganAt, { answer: () => Response.json(ended), silenceMs: 1 });
  const answer = await call('exec');
  expect(answer).toMatchObject({ statusCode: 200, body: expect.any(ReadableStream) });
});

test('a program in a sandbox that runs reads the workspace once, also for its save', async () => {
  const save = async () => ({ status: 'unchanged', leftOut: [], logs: [] });
  const { call, read } = openRoutes(beganAt, { answer: () => Response.json(ended), save });
  expect(await call('exec')).toMatchObject({ statusCode: 200 });
  expect(read).toHaveLength(1);
});

test('a program that runs is named, though its output cannot be read yet: a refusal would have it run again', async () => {
  const answer = ({ path }: Asked): Response => {
    if (path.includes('/output')) throw new AppError('sandbox_unavailable', 'the sandbox does not answer');
    return path === '/processes' ? Response.json({ id: 'p' }, { status: 202 }) : Response.json({});
  };
  const { call, asked, warned } = openRoutes(beganAt, { answer });
  const { statusCode, body } = (await call('exec', 'text/event-stream')) ?? {};
  const { id } = JSON.parse(asked[0]?.body ?? '{}') as { id: string };
  expect(statusCode).toBe(200);
  expect(await new Response(body).text()).toBe(`event: start\ndata: {"processId":"${id}"}\n\n`);
  expect(warned).toEqual(['the output of a program that runs was not read']);
});
