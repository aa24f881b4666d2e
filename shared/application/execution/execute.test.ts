/** One execution: what becomes of its result, its session and its errors when something beside the program fails. */

import { describe, expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { SessionId } from '../../domain/ids.ts';
import { poolEntryId } from '../../domain/pool.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { AppError, UnsentError } from '../../errors.ts';
import type { SandboxLink, SandboxTools } from '../../ports/sandbox.ts';
import type { WorkspaceArchive } from '../../ports/workspace-archive.ts';
import type { ExecutionDeps } from '../deps.ts';
import { fillPool } from '../janitor/fill-pool.ts';
import { requireActive } from '../sandbox/acquire-with-heartbeat.ts';
import { type Execution, execute } from './execute.ts';
import { executeInBackground } from './execute-in-background.ts';

const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'hash' };
const wanted = (change: Partial<Execution> = {}): Execution => ({
  principal,
  options: {},
  defaults: {
    ...{ provider: 'demo', flavor: 'small', template: 'python', lifetimes },
  },
  wait: { waitSeconds: 0, evictIdle: false },
  tool: 'execute_code',
  argsFor: () => ({}),
  timeoutSeconds: 30,
  onProgress: () => undefined,
  onPhase: () => undefined,
  ...change,
});

const open = () => {
  const quiet = openQuietPorts();
  const run = (ports: Partial<ExecutionDeps> = {}, change: Partial<Execution> = {}) =>
    execute({ ...quiet.ports, ...ports }, wanted(change));
  const only = async () => {
    const { sessions } = await quiet.ports.sessions.list(deploymentOwner, { itemsMax: 10 });
    expect(sessions).toHaveLength(1);
    return sessions[0] ?? Promise.reject(new Error('no session was made'));
  };
  return { ...quiet, run, only };
};

const broken = () => Promise.reject(new Error('the table is throttled'));

describe('a result', () => {
  test('is answered even if recording its end fails', async () => {
    const { ports, run, warned } = open();
    const executed = await run({ sessions: { ...ports.sessions, endCall: broken } });
    expect(executed).toMatchObject({ sessionCreated: true, structured: { stdout: 'done' } });
    expect(warned).toEqual(['the end of a call was not recorded']);
  });

  test('of a first call costs this number of requests, and of the next one this', async () => {
    const { run, takeRequests } = open();
    const { session } = await run();
    takeRequests();
    await run({}, { sessionId: session.id });
    expect(takeRequests()).toEqual(['BatchGet', 'Update', 'Get', 'Update']);
  });

  test.each([
    ['that changed nothing costs no save', { said: { asSaved: 0 }, saves: 0 }],
    ['whose sandbox has a line more is saved', { said: { asSaved: 1 }, saves: 1 }],
    ['that says nothing of its workspace is saved', { said: {}, saves: 1 }],
    ['is saved where a shared volume is', { said: {}, keepsShared: true, saves: 1 }],
  ] as const)('of a call %s', async (_, { said, saves: expected, ...kind }) => {
    const { ports, run, only } = open();
    const { session } = await run();
    const { workspace } = await only();
    const checkpoint = {
      ...{ id: 'c', sha256: 's', generation: 1, savedAt: 1 },
      files: 0,
      bytes: 0,
      packs: [],
    };
    await ports.workspaces.recordCheckpoint(workspace, checkpoint, { id: undefined, kept: undefined });
    let saves = 0;
    const save: WorkspaceArchive['save'] = async (...asked) => {
      saves += 1;
      return ports.archive.save(...asked);
    };
    const asked: (string | undefined)[] = [];
    const call: SandboxTools['call'] = async ({ savedAs }) => {
      asked.push(savedAs);
      return { status: 'finished', content: [], ...said };
    };
    const tools = fake<SandboxTools>({ call });
    await run({ tools, archive: { ...ports.archive, ...kind, save } }, { sessionId: session.id });
    expect([saves, asked]).toEqual([expected, ['keepsShared' in kind ? undefined : 'c']]);
  });

  test.each([
    ['from the pool', 'python', { before: 7, in: 12 }],
    ['without it', 'node', { before: 9, in: 14 }],
  ] as const)('of a first call %s waits for so many rounds to the table', async (_, template, rounds) => {
    const quiet = open();
    const pooled = { ...quiet.ports, poolSize: 1 };
    await fillPool(pooled, { size: 1, flavors: { execution: 'micro', agent: 'micro' }, template: 'python' });
    await pooled.workspaces.markReady(poolEntryId(0), 1, { at: 1 });
    const count = countRounds(quiet.hooks);
    let before = 0;
    const call: SandboxTools['call'] = async (asked) => {
      before = count();
      return quiet.ports.tools.call(asked);
    };
    const fetch: SandboxLink['fetch'] = async (_, { path }) =>
      new Response(null, { status: path === '/claim' ? 204 : 200 });
    await quiet.run(
      { poolSize: 1, tools: fake<SandboxTools>({ call }), link: { fetch } },
      { options: { flavor: 'micro', template } },
    );
    expect({ before, in: count() }).toEqual(rounds);
  });

  test('of a first call is not answered before the start of its sandbox is recorded', async () => {
    const { ports, hooks, run, only } = open();
    hooks.before = async () => new Promise((resolve) => setImmediate(resolve));
    await run();
    const { id, workspace, status } = await only();
    expect(status).toBe('ready');
    expect((await ports.eventLog.read(id, { since: -1, eventsMax: 9 })).events).toMatchObject([
      { type: 'system' },
    ]);
    expect(await ports.sandboxLog.read(workspace, 9)).toHaveLength(2);
  });

  test('does not depend on the lines of a start in the log of its sandbox', async () => {
    const { ports, run, warned } = open();
    const executed = await run({ sandboxLog: { ...ports.sandboxLog, append: broken } });
    expect(executed).toMatchObject({ structured: { stdout: 'done' } });
    expect(warned).toEqual(['the start of a sandbox was not logged']);
  });

  test('fails with the record of its start, and leaves no call behind', async () => {
    const { ports, run, only } = open();
    await expect(run({ eventLog: { ...ports.eventLog, append: broken } })).rejects.toThrow();
    expect((await only()).runningCalls ?? {}).toEqual({});
  });
});

/** Requests that are sent before any of them is answered are one round. */
const countRounds = (hooks: ReturnType<typeof openQuietPorts>['hooks']): (() => number) => {
  let rounds = 0;
  let current: Promise<void> | undefined;
  hooks.before = () => {
    current ??= new Promise((resolve) =>
      setImmediate(() => {
        current = undefined;
        rounds += 1;
        resolve();
      }),
    );
    return current;
  };
  return () => rounds;
};

describe('a call of which no byte was sent', () => {
  const away = { status: 'lost', message: 'the sandbox could not be reached', isUnsent: true } as const;

  /** A sandbox that is gone for good once its first call has run. */
  const openGone = () => {
    const quiet = open();
    const { ports } = quiet;
    const ran: number[] = [];
    let gone = 0;
    const lose = (generation: number): void => {
      gone = generation;
    };
    const call: SandboxTools['call'] = async (asked) => {
      const { generation } = asked.sandbox;
      if (generation <= gone) return away;
      ran.push(generation);
      return ports.tools.call(asked);
    };
    const fetch: typeof ports.link.fetch = async (sandbox, request) => {
      if (sandbox.generation <= gone) throw new UnsentError('the sandbox could not be reached');
      return ports.link.fetch(sandbox, request);
    };
    const run = (sessionId?: SessionId) =>
      quiet.run(
        { tools: fake<SandboxTools>({ call }), link: { fetch } },
        sessionId === undefined ? {} : { sessionId },
      );
    return { ...quiet, ran, run, lose };
  };

  test('runs in a new sandbox, and says that the state of the one before is lost', async () => {
    const { run, ran, lose } = openGone();
    const { session, stateLost } = await run();
    expect(stateLost).toBe(false);
    lose(1);
    expect(await run(session.id)).toMatchObject({ stateLost: true, structured: { stdout: 'done' } });
    expect(ran).toEqual([1, 2]);
  });

  test('fails as one that did not run, if the next sandbox cannot be reached either', async () => {
    const quiet = open();
    const tools = fake<SandboxTools>({ call: async () => away });
    await expect(quiet.run({ tools })).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: 'the sandbox could not be reached; the call did not run',
    });
  });
});

describe('a first call whose sandbox does not start', () => {
  const capacity = new AppError('sandbox_start_failed', 'ECS said no');
  const host = (quiet: ReturnType<typeof open>) => ({
    ...quiet.ports.host,
    start: () => Promise.reject(capacity),
  });

  test('ends its session in error, which takes no other call', async () => {
    const quiet = open();
    await expect(quiet.run({ host: host(quiet) })).rejects.toMatchObject({ code: 'sandbox_start_failed' });
    const session = await quiet.only();
    expect(session.status).toBe('error');
    expect((await quiet.ports.workspaces.get(session.workspace))?.users).toEqual([]);
    const { events } = await quiet.ports.eventLog.read(session.id, { since: -1, eventsMax: 9 });
    expect(events.at(-1)?.data).toEqual({ kind: 'session_status', status: 'error' });
    const refused = { code: 'invalid_session_state' };
    await expect(quiet.run({}, { sessionId: session.id })).rejects.toMatchObject(refused);
    expect(() => requireActive(session)).toThrow(expect.objectContaining(refused));
  });

  test('reports why, also when ending its session fails', async () => {
    const quiet = open();
    const sessions = { ...quiet.ports.sessions, end: broken };
    await expect(quiet.run({ host: host(quiet), sessions })).rejects.toMatchObject({
      code: 'sandbox_start_failed',
    });
    expect(quiet.warned).toEqual(['a sandbox did not start', 'a session without a sandbox was not ended']);
  });
});

describe('a first call that fails in its sandbox', () => {
  test.each([
    ['a refusal', new AppError('tool_outcome_unknown', 'the connection broke'), 'tool_outcome_unknown'],
    ['a fault of ours', new Error('a bug'), 'internal_error'],
  ])('keeps its session, and returns its id: %s', async (_what, error, code) => {
    const { run, only } = open();
    const failed = await run({ tools: fake<SandboxTools>({ call: () => Promise.reject(error) }) }).catch(
      (told: unknown) => told,
    );
    const { id, status } = await only();
    expect(failed).toMatchObject({ code, details: { facts: { sessionId: id } } });
    expect(status).toBe('ready');
  });
});

test('a cancelled caller whose sandbox still starts gets the cancellation, and leaves no session behind', async () => {
  const { ports, run, only } = open();
  const leaves = new AbortController();
  const host = {
    ...ports.host,
    start: async () => {
      leaves.abort(new Error('left'));
      return 'task';
    },
  };
  const wait = { waitSeconds: 0, evictIdle: false, signal: leaves.signal };
  await expect(run({ host }, { wait })).rejects.toMatchObject({ code: 'conflict' });
  expect((await only()).status).toBe('stopped');
});

test('L5: a call counts as running from the creation of its session until it cannot be running any more', async () => {
  const { ports, run } = open();
  let seen: { readonly made: number; readonly until: number } | undefined;
  const sessions = {
    ...ports.sessions,
    create: async (...given: Parameters<typeof ports.sessions.create>) => {
      const [{ createdAt, runningCalls }] = given;
      seen = { made: createdAt, until: Math.max(...Object.values(runningCalls)) };
      return ports.sessions.create(...given);
    },
  };
  await run({ sessions });
  // Its sandbox's start, its timeout, a silence, its save, and a minute.
  expect(seen?.until).toBe((seen?.made ?? 0) + 120_000 + 30_000 + 90_000 + 150_000 + 60_000);
});

describe('where all slots are held', () => {
  const two = { executionMax: 2, agentMax: 2, conversationsMax: 9, evictsIdle: true };
  /** Two sessions with a sandbox each, the first used last. */
  const openFull = async (slotLimits = two) => {
    const quiet = open();
    const run: typeof quiet.run = (ports, change) => quiet.run({ slotLimits, ...ports }, change);
    const first = await run();
    quiet.clock.now += 1000;
    const second = await run();
    quiet.clock.now += 1000;
    await run({}, { sessionId: first.session.id });
    quiet.clock.now += 1000;
    const statusOf = async ({ session }: typeof first) =>
      (await quiet.ports.sessions.get(session.id))?.status;
    return { ...quiet, run, first, second, statusOf };
  };

  test('the longest idle sandbox is saved and stopped, and its session is paused', async () => {
    const { ports, run, first, second, statusOf, invoked, counted } = await openFull();
    invoked.splice(0);
    const third = await run();
    expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([
      'ready',
      'paused',
      'ready',
    ]);
    expect(invoked).toEqual([`stop ${second.session.workspace}`]);
    expect(counted.SandboxesEvicted).toBe(1);
    const { sandbox } = (await ports.workspaces.get(second.session.workspace)) ?? {};
    expect(sandbox).toMatchObject({ state: 'stopping', stoppedReason: 'another session needed its slot' });
    const { events } = await ports.eventLog.read(second.session.id, { since: -1, eventsMax: 10 });
    expect(events.at(-1)?.data).toEqual({ kind: 'session_status', status: 'paused' });
  });

  test('a paused session starts again with its next call, which is told that its state is lost', async () => {
    const { ports, run, second, statusOf, clock } = await openFull();
    await run();
    const { workspace: id } = second.session;
    await ports.workspaces.markStopped(id, 1, { reason: 'exit code 0', at: clock.now });
    clock.now += 1000;
    const again = await run({}, { sessionId: second.session.id });
    expect(again).toMatchObject({ stateLost: true, sessionCreated: false });
    expect(await statusOf(second)).toBe('ready');
  });

  test('by calls that run, the next one is refused, and leaves no session behind', async () => {
    const { ports, run, first, second, clock } = await openFull();
    for (const { session } of [first, second]) {
      const at = clock.now;
      await ports.sessions.beginCall(session.id, { key: 'k', at, until: at + 90_000, idleMs: 0 });
    }
    await expect(run()).rejects.toMatchObject({
      code: 'resource_limit_exceeded',
      details: { facts: { maxSessions: 2 } },
    });
    const inBackground = { ...wanted(), programFor: () => ({ command: 'sleep 60' }) };
    const slotLimits = two;
    const refused = await executeInBackground({ ...ports, slotLimits }, inBackground).catch((told) => told);
    expect(refused).toMatchObject({
      code: 'resource_limit_exceeded',
      details: { facts: { maxSessions: 2 } },
    });
    expect(refused).not.toHaveProperty('details.facts.sessionId');
    const { sessions } = await ports.sessions.list(deploymentOwner, { itemsMax: 10 });
    expect(sessions).toHaveLength(2);
  });

  test('a call that waits gets the first slot that becomes free', async () => {
    const { ports, run, first, second, clock } = await openFull();
    for (const { session } of [first, second]) {
      const at = clock.now;
      await ports.sessions.beginCall(session.id, { key: 'k', at, until: at + 30_000, idleMs: 0 });
    }
    const phases: string[] = [];
    const wait = { waitSeconds: 60, evictIdle: false };
    await run({}, { wait, onPhase: (phase) => phases.push(phase) });
    expect(phases).toContain('waiting for a slot');
    expect(clock.now).toBeGreaterThanOrEqual(1_033_000);
  });

  test('no sandbox gives way where the operator has turned that off, unless the call asks for it', async () => {
    const { run } = await openFull({ ...two, evictsIdle: false });
    await expect(run()).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
    const wait = { waitSeconds: 0, evictIdle: true };
    expect((await run({}, { wait })).sessionCreated).toBe(true);
  });

  test('a paused session that gets none stays paused', async () => {
    const { ports, run, first, second, statusOf, clock } = await openFull();
    const third = await run();
    await ports.workspaces.markStopped(second.session.workspace, 1, { reason: 'ended', at: clock.now });
    for (const { session } of [first, third]) {
      const at = clock.now;
      await ports.sessions.beginCall(session.id, { key: 'k', at, until: at + 90_000, idleMs: 0 });
    }
    await expect(run({}, { sessionId: second.session.id })).rejects.toMatchObject({
      code: 'resource_limit_exceeded',
    });
    expect(await statusOf(second)).toBe('paused');
  });
});
