/** The losses of a start, told to each session of the workspace by its next call, whoever made the sandbox ready (L15). */
import { expect, test } from 'vitest';
import { newExecution, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { callInSandbox } from '../execution/call-in-sandbox.ts';
import { openLazySandbox } from '../turn/tools/lazy-sandbox.ts';
import { acquireSandbox } from './acquire-sandbox.ts';
import { acquireWithHeartbeat, enterSandbox } from './acquire-with-heartbeat.ts';
import { recordLossNotice } from './record-loss-notice.ts';
import { startedFor } from './sandbox-request.ts';

const notice = '[The sandbox before this one was lost: it died.';

/** Two sessions of one workspace, whose first sandbox died, if `dies`, or else was stopped in order. */
const open = async ({ dies = true, kind = 'agent' as Session['kind'] } = {}) => {
  const quiet = openQuietPorts();
  const { ports } = quiet;
  const first = newSession();
  const made = kind === 'agent' ? newSession() : newExecution();
  const second = { ...made, workspace: first.workspace, owner: first.owner, project: first.project };
  await ports.sessions.create(first, { workspace: workspaceOf(first) });
  await ports.sessions.create(second, { enters: {} });
  const { workspace } = first;
  const opening = { lifetimes: ports.lifetimes };
  await acquireWithHeartbeat(ports, first, opening);
  if (!dies) {
    await ports.workspaces.markStopping(workspace, 1, { reason: 'idle', at: 2, dueAt: 3 });
    await ports.workspaces.recordStopRequest(workspace, 1, { at: 2 });
  }
  await ports.workspaces.markStopped(workspace, 1, { reason: 'it died', at: 4 });
  /** The next call of a session's agent: what it would tell. */
  const hears = async (session: Session) => {
    const { losses, workspace: read } = await acquireSandbox(ports, startedFor(session));
    return { losses, read };
  };
  /** A call of a client outside a turn. */
  const calls = async (session: Session) => {
    const reopen = () => enterSandbox(ports, session, opening);
    const opened = await reopen();
    const call = { key: ports.world.uuid(), opened, reopen, tool: 'execute_command', args: {} };
    return callInSandbox(ports as never, session, { ...call, onProgress: () => undefined });
  };
  return { ...quiet, first, second, opening, hears, calls };
};

test('a person who opens a file makes it ready: both agents are told, each once', async () => {
  const { ports, first, second, opening, hears } = await open();
  await acquireWithHeartbeat(ports, first, opening);
  for (const session of [first, second]) {
    const { losses } = await hears(session);
    expect(losses?.generation).toBe(2);
    expect(losses?.notice).toContain(notice);
    await recordLossNotice(ports, session, losses);
    expect((await hears(session)).losses).toBeUndefined();
  }
});

test('an agent makes it ready: it is told, and so is the other', async () => {
  const { ports, first, second, hears } = await open();
  const { losses } = await hears(first);
  expect(losses?.notice).toContain(notice);
  await recordLossNotice(ports, first, losses);
  expect((await hears(first)).losses).toBeUndefined();
  expect((await hears(second)).losses?.notice).toContain(notice);
});

test('a turn takes them once', async () => {
  const { ports, first, opening } = await open();
  await acquireWithHeartbeat(ports, first, opening);
  const left = new AbortController();
  const lazySandbox = openLazySandbox(ports, { ...startedFor(first), signal: left.signal });
  await lazySandbox.get();
  expect(lazySandbox.takeLosses()?.notice).toContain(notice);
  expect(lazySandbox.takeLosses()).toBeUndefined();
  left.abort();
  await lazySandbox.leave();
});

test('a session that was not recorded as told is told again', async () => {
  const { first, hears } = await open();
  expect((await hears(first)).losses?.notice).toContain(notice);
  expect((await hears(first)).losses?.notice).toContain(notice);
});

test('losses of which nobody was told are told after the next start, which lost nothing', async () => {
  const { ports, first, second, opening, hears } = await open();
  await acquireWithHeartbeat(ports, first, opening);
  await ports.workspaces.markStopping(first.workspace, 2, { reason: 'idle', at: 5, dueAt: 6 });
  await ports.workspaces.recordStopRequest(first.workspace, 2, { at: 5 });
  await ports.workspaces.markStopped(first.workspace, 2, { reason: 'idle', at: 7 });
  expect((await acquireWithHeartbeat(ports, first, opening)).sandbox.generation).toBe(3);
  const { losses } = await hears(second);
  expect(losses?.notice).toContain(notice);
  await recordLossNotice(ports, second, losses);
  expect((await hears(second)).losses).toBeUndefined();
});

test('a session of executions is told with the answer of its next call, and that its state is lost', async () => {
  const { ports, first, second, opening, calls, hears } = await open({ kind: 'execution' });
  await acquireWithHeartbeat(ports, first, opening);
  const told = await calls(second);
  expect(told.notices).toEqual([expect.stringContaining(notice)]);
  expect(told.stateLost).toBe(true);
  expect(await calls(second)).toMatchObject({ notices: [], stateLost: false });
  expect((await hears(first)).losses?.notice).toContain(notice);
});

test("a client's call in an agent's session takes nothing from its agent", async () => {
  const { first, second, calls, hears } = await open();
  expect((await calls(first)).notices).toEqual([expect.stringContaining(notice)]);
  expect((await calls(second)).notices).toEqual([]);
  for (const session of [first, second]) expect((await hears(session)).losses?.notice).toContain(notice);
});

test('a start that lost nothing tells nothing, and costs no request more', async () => {
  const { ports, first, second, opening, hears, takeRequests } = await open({ dies: false });
  await acquireWithHeartbeat(ports, first, opening);
  takeRequests();
  const { losses, read } = await hears(second);
  expect(losses).toBeUndefined();
  expect(read).not.toHaveProperty('losses');
  expect(read).not.toHaveProperty('unaware');
  expect(takeRequests()).toEqual(['Get']);
});
