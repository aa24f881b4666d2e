/**
 * Schedules, by those who use them: made, run by the minute and by hand, pinned, overlapping, missed, disabled; each
 * table of the specification row by row, in a cloud whose sweep comes when it is called.
 */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { dueValues, keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { ProjectId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { Pin, ScheduleId } from '#shared/domain/schedule/schedule.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect, errorOf, type Fields, fieldsOf } from './mcp-clients.ts';

type Target = {
  readonly projectId: string;
  readonly workspaceId?: string;
  readonly pinnedSessionId?: string;
  readonly pinnedWorkspaceId?: string;
};
type Shown = {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly targets: readonly Target[];
  readonly nextRunAt: string | null;
  readonly disabledReason?: string;
};
type Row = {
  readonly runAt: string;
  readonly startedAt: string | null;
  readonly status: string;
  readonly trigger: string;
  readonly sessionId?: string;
  readonly output?: string;
  readonly error?: string;
  readonly durationMs?: number;
  readonly late?: true;
};

type Refusal = { readonly error: { readonly code: string; readonly message: string } };
const refusalOf = async (response: Response): Promise<Refusal['error']> =>
  ((await response.json()) as Refusal).error;

let cloud: EmbeddedCloud;
/** No sweep comes here, so that a run is the scheduler's. */
let unswept: EmbeddedCloud;
/** Made before the other tests and looked at after them: its minute comes while they run. */
let minutely: Shown;
const makeMinutely = (): Promise<Shown> => make({ cronExpr: '* * * * *', prompt: 'say hello' }, unswept);
beforeAll(async () => {
  [cloud, unswept] = await Promise.all([openEmbeddedCloud(), openEmbeddedCloud()]);
  minutely = await makeMinutely();
});
afterAll(() => Promise.all([cloud.stop(), unswept.stop()]));

const post = <T>(path: string, body: object = {}, at = cloud): Promise<T> =>
  at.ask(path, { method: 'POST', body: JSON.stringify(body) });
const newProject = async (at = cloud): Promise<string> =>
  (await post<{ id: string }>('/api/projects', { name: 'p', approvals: 'auto' }, at)).id;

/** Once a year: it runs when it is told to. */
const seldom = '0 0 1 1 *';

const make = async (options: object = {}, at = cloud): Promise<Shown> => {
  const projectId = await newProject(at);
  const body = { name: 's', cronExpr: seldom, prompt: 'hello', targets: [{ projectId }], ...options };
  return post('/api/schedules', body, at);
};
const show = (id: string, at = cloud): Promise<Shown> => at.ask(`/api/schedules/${id}`);
const historyOf = async (id: string, at = cloud): Promise<readonly Row[]> =>
  (await at.ask<{ history: readonly Row[] }>(`/api/schedules/${id}/history`)).history;
const trigger = (id: string): Promise<{ runs: readonly Row[] }> => post(`/api/schedules/${id}/trigger`);
const isOver = ({ status }: Row): boolean => ['success', 'failed', 'skipped'].includes(status);

/** The rows once there are that many and all have ended, newest first. */
const ended = (id: string, rows: number): Promise<readonly Row[]> =>
  eventually(
    () => historyOf(id),
    (history) => history.length === rows && history.every(isOver),
    40_000,
  );
const running = (id: string): Promise<readonly Row[]> =>
  eventually(
    () => historyOf(id),
    (history) => history[0]?.status === 'running' && history[0].sessionId !== undefined,
    20_000,
  );
/** Everything of it is due now, and the sweep comes. */
const sweep = async (id: string): Promise<void> => {
  const { client, name: TableName } = cloud.table;
  const state = await makeScheduleStore(cloud.table).find(id as ScheduleId);
  const due = dueValues('schedule', id, 1);
  for (const run of state?.open ?? [])
    await client.send(
      new UpdateCommand({
        TableName,
        Key: keys.openRun(id, `${String(run.runAt).padStart(13, '0')}#${run.part}`),
        UpdateExpression: 'SET duePk = :duePk, dueAt = :dueAt',
        ExpressionAttributeValues: due,
      }),
    );
  await cloud.schedules({ sweep: 'schedules' });
};
const pinOf = async (id: string): Promise<string | undefined> => (await show(id)).targets[0]?.pinnedSessionId;
/** Its target continues in a workspace that is not there. */
const pinAway = async (
  id: string,
  {
    session = randomUUID(),
    former,
  }: { readonly session?: string | undefined; readonly former?: string | undefined } = {},
): Promise<void> => {
  const project = (await show(id)).targets[0]?.projectId as ProjectId;
  const pinTo = (to: string): Pin => ({
    session: to as SessionId,
    workspace: randomUUID() as WorkspaceId,
  });
  const pinned = { pin: pinTo(session), former: former === undefined ? undefined : pinTo(former) };
  expect(await makeScheduleStore(cloud.table).pin(id as ScheduleId, { project }, pinned)).toBe(true);
};
const endSession = (id: string): Promise<unknown> => cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });

describe('a created schedule', () => {
  test('is shown, listed newest first, changed and deleted', async () => {
    const projectId = await newProject();
    const first = await make({ targets: [{ projectId }], name: 'first' });
    const second = await make({ targets: [{ projectId }], name: 'second', prompt: 'é'.repeat(40_000) });
    expect(await show(first.id)).toEqual(first);
    expect(await show(second.id)).toMatchObject({ prompt: 'é'.repeat(40_000) });
    const listed = await cloud.ask<{ schedules: readonly Shown[] }>(`/api/schedules?project=${projectId}`);
    expect(listed.schedules.map(({ name }) => name)).toEqual(['second', 'first']);
    expect(listed.schedules[0]).toMatchObject({ prompt: 'é'.repeat(1000), promptTruncated: true });
    const patch = (body: object): Promise<Shown> =>
      cloud.ask(`/api/schedules/${first.id}`, { method: 'PATCH', body: JSON.stringify(body) });
    expect(await patch({ cronExpr: '30 2 29 2 *' })).toMatchObject({ nextRunAt: '2028-02-29T02:30:00.000Z' });
    expect(await patch({ enabled: false })).toMatchObject({ enabled: false, nextRunAt: null });
    expect(await patch({ enabled: true })).toMatchObject({ nextRunAt: '2028-02-29T02:30:00.000Z' });
    const other = await newProject();
    expect((await patch({ targets: [{ projectId: other }] })).targets).toEqual([{ projectId: other }]);
    expect(await cloud.ask(`/api/schedules?project=${projectId}`)).toMatchObject({
      schedules: [{ name: 'second' }],
    });
    await cloud.ask(`/api/schedules/${first.id}`, { method: 'DELETE' });
    const gone = await cloud.request(`/api/schedules/${first.id}`);
    expect([gone.status, (await refusalOf(gone)).code]).toEqual([404, 'schedule_not_found']);
    expect(await cloud.ask(`/api/schedules?project=${other}`)).toEqual({ schedules: [] });
  });

  test.each([
    [{ name: undefined }, 'name is required'],
    [{ cronExpr: '* * *' }, 'cronExpr: a cron expression has 5 fields'],
    [{ cronExpr: '60 * * * *' }, 'cronExpr: minute: from 0 to 59, not "60"'],
    [{ prompt: 'x'.repeat(102_401) }, 'prompt: a text of 1 to 102400 bytes'],
    [{ targets: [] }, 'targets: a list of 1 to 10'],
    [{ overlapBehavior: 'never' }, 'overlapBehavior: use one of skip, queue, parallel'],
    [{ sessionBehavior: 'old' }, 'sessionBehavior: use one of resume, new'],
  ])('is refused by name: %o', async (options, message) => {
    const body = { name: 's', cronExpr: seldom, prompt: 'x', ...options };
    const response = await cloud.request('/api/schedules', { method: 'POST', body: JSON.stringify(body) });
    const { code, message: said } = await refusalOf(response);
    expect([response.status, code]).toEqual([400, 'invalid_request']);
    expect(said).toContain(message);
  });

  test('runs in no unknown project and no unknown workspace', async () => {
    const projectId = await newProject();
    const refused = async (target: Target) => {
      const body = { name: 's', cronExpr: seldom, prompt: 'x', targets: [target] };
      const response = await cloud.request('/api/schedules', { method: 'POST', body: JSON.stringify(body) });
      return (await refusalOf(response)).code;
    };
    expect(await refused({ projectId: randomUUID() })).toBe('project_not_found');
    expect(await refused({ projectId, workspaceId: randomUUID() })).toBe('workspace_not_found');
  });

  test('belongs to its project for a token of another', async () => {
    const { id, targets } = await make();
    const other = await newProject();
    const tokenFor = async (project: string): Promise<string> =>
      (await post<{ token: string }>('/api/tokens', { name: 't', scope: `project:${project}` })).token;
    const [stranger, own] = [await tokenFor(other), await tokenFor(targets[0]?.projectId ?? '')];
    const as = (token: string, path: string, method = 'GET') =>
      cloud.request(path, { method, headers: { authorization: `Bearer ${token}` } });
    for (const [path, method] of [
      [`/api/schedules/${id}`, 'GET'],
      [`/api/schedules/${id}`, 'PATCH'],
      [`/api/schedules/${id}`, 'DELETE'],
      [`/api/schedules/${id}/trigger`, 'POST'],
      [`/api/schedules/${id}/history`, 'GET'],
    ] as const) {
      const response = await as(stranger, path, method);
      expect([response.status, (await refusalOf(response)).code]).toEqual([404, 'schedule_not_found']);
    }
    expect((await as(own, `/api/schedules/${id}`)).status).toBe(200);
    expect(await (await as(stranger, '/api/schedules')).json()).toEqual({ schedules: [] });
  });
});

describe('the tool', () => {
  test('creates, lists, shows, changes, triggers and deletes one, and returns its history', async () => {
    const client = await connect(cloud);
    const call = async (action: string, args: Fields = {}): Promise<Fields> =>
      fieldsOf(await client.call('schedule', { action, ...args }));
    const project_id = await newProject();
    const options = { name: 's', cron_expr: seldom, prompt: 'hello', targets: [{ project_id }] };
    const made = await call('create', options);
    const { id: schedule_id } = made;
    expect(made).toMatchObject({
      ...options,
      enabled: true,
      overlap_behavior: 'skip',
      session_behavior: 'resume',
      last_run_at: null,
    });
    expect(await call('get', { schedule_id })).toEqual(made);
    expect(await call('list', { project_id })).toEqual({ schedules: [made] });
    expect(await call('update', { schedule_id, overlap_behavior: 'queue' })).toMatchObject({
      ...options,
      overlap_behavior: 'queue',
    });
    expect(await call('trigger', { schedule_id })).toMatchObject({
      id: schedule_id,
      runs: [{ status: 'running', trigger: 'manual', project_id }],
    });
    await ended(String(schedule_id), 1);
    expect(await call('history', { schedule_id, limit: 5 })).toMatchObject({
      history: [{ status: 'success', session_id: expect.any(String), duration_ms: expect.any(Number) }],
    });
    expect(await call('delete', { schedule_id })).toMatchObject({ id: schedule_id, enabled: false });
    const refused = async (args: Fields) => errorOf(await client.call('schedule', args));
    expect(await refused({ action: 'get', schedule_id })).toMatchObject({ type: 'schedule_not_found' });
    expect(await refused({ action: 'create', ...options, cron_expr: '' })).toMatchObject({
      type: 'invalid_request',
      message: expect.stringContaining('cron_expr: a cron expression has 5 fields'),
    });
    expect(await refused({ action: 'create', ...options, name: undefined })).toMatchObject({
      type: 'invalid_request',
    });
    expect(await refused({ action: 'stop' })).toMatchObject({
      message:
        "unknown action 'stop' for schedule tool; valid actions: create, list, get, update, delete, trigger, history",
    });
    await client.close();
  });
});

describe('the pinning table', () => {
  const runOnce = async (id: string, rows: number): Promise<Row> => {
    await trigger(id);
    const [row] = await ended(id, rows);
    await sweep(id);
    return row as Row;
  };

  test('resume: without a pin it spawns, an active one gets the message, an ended one is resumed with its conversation', async () => {
    const { id } = await make({ sessionBehavior: 'resume' });
    expect(await pinOf(id)).toBeUndefined();
    const first = await runOnce(id, 1);
    expect(first).toMatchObject({ status: 'success', trigger: 'manual' });
    expect(await pinOf(id)).toBe(first.sessionId);
    const second = await runOnce(id, 2);
    expect(second.sessionId).toBe(first.sessionId);
    const [{ pinnedWorkspaceId } = { pinnedWorkspaceId: '' }] = (await show(id)).targets;
    await endSession(first.sessionId ?? '');
    const third = await runOnce(id, 3);
    expect(third).toMatchObject({ status: 'success', sessionId: first.sessionId });
    expect((await show(id)).targets).toEqual([
      expect.objectContaining({ pinnedSessionId: first.sessionId, pinnedWorkspaceId }),
    ]);
    const { messages } = await cloud.ask<{ messages: readonly { role: string }[] }>(
      `/api/sessions/${first.sessionId}/messages`,
    );
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(3);
  });

  test('resume: if an ended one can be resumed no more it spawns, in its workspace if that is there, and pins again', async () => {
    const { id } = await make();
    const first = await runOnce(id, 1);
    await endSession(first.sessionId ?? '');
    const { client, name: TableName } = cloud.table;
    const forgotten = {
      UpdateExpression: 'SET lastActiveAt = :long',
      ExpressionAttributeValues: { ':long': 1 },
    };
    await client.send(
      new UpdateCommand({ TableName, Key: keys.session(first.sessionId ?? ''), ...forgotten }),
    );
    await pinAway(id, { session: first.sessionId });
    const second = await runOnce(id, 2);
    expect(second).toMatchObject({ status: 'success' });
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(await pinOf(id)).toBe(second.sessionId);
  });

  test('resume: if the session itself was deleted it spawns and pins again', async () => {
    const { id } = await make();
    await pinAway(id);
    const first = await runOnce(id, 1);
    expect(first).toMatchObject({ status: 'success' });
    expect(await pinOf(id)).toBe(first.sessionId);
  });

  test('new: every run spawns and pins again, and the session ends with its run', async () => {
    const { id } = await make({ sessionBehavior: 'new' });
    const first = await runOnce(id, 1);
    expect(await pinOf(id)).toBe(first.sessionId);
    const second = await runOnce(id, 2);
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(await pinOf(id)).toBe(second.sessionId);
    for (const { sessionId } of [first, second])
      expect(await cloud.ask(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed' });
  });
});

describe('the overlap table', () => {
  /** Its session's turn goes on until the file is there. */
  const held = '$ until [ -e go ]; do sleep 0.1; done';
  const release = async ({ sessionId }: Row): Promise<void> => {
    const path = `/api/sessions/${sessionId}/files/go`;
    expect([200, 201]).toContain((await cloud.request(path, { method: 'PUT', body: '' })).status);
  };
  /** A run that began may have yet to pin its session: until then another one waits for the next look. */
  const isPinned = (id: string, { sessionId }: Row): Promise<unknown> =>
    eventually(
      () => pinOf(id),
      (pin) => pin === sessionId,
    );
  /** The newest row, which is the second one, once it is as wanted. */
  const second = async (id: string, isWanted: (row: Row) => boolean): Promise<Row> => {
    const [row] = await eventually(
      () => historyOf(id),
      ([newest, former]) => newest !== undefined && former !== undefined && isWanted(newest),
      30_000,
    );
    return row as Row;
  };
  const isRunning = ({ status, sessionId }: Row): boolean => status === 'running' && sessionId !== undefined;
  const endOf = ({ startedAt, durationMs = 0 }: Row): number => Date.parse(startedAt ?? '') + durationMs;

  const begin = async (options: object): Promise<{ readonly id: string; readonly former: Row }> => {
    const { id } = await make({ prompt: held, ...options });
    await trigger(id);
    const [former] = await running(id);
    return { id, former: former as Row };
  };

  test.each(['resume', 'new'])(
    'skip, %s: a run is skipped while an earlier one goes on',
    async (sessionBehavior) => {
      const { id, former } = await begin({ overlapBehavior: 'skip', sessionBehavior });
      await trigger(id);
      await second(id, ({ status }) => status === 'skipped');
      await release(former);
      const [skipped, first] = await ended(id, 2);
      expect(skipped).toMatchObject({
        status: 'skipped',
        startedAt: null,
        error: 'an earlier run has not ended',
      });
      expect(first).toMatchObject({ status: 'success' });
    },
  );

  test('queue, resume: the message waits in the session', async () => {
    const { id, former } = await begin({ overlapBehavior: 'queue' });
    await isPinned(id, former);
    await trigger(id);
    await second(id, () => true);
    await release(former);
    const [later, first] = await ended(id, 2);
    expect([first?.status, later?.status]).toEqual(['success', 'success']);
    expect(later?.sessionId).toBe(first?.sessionId);
    expect(Date.parse(later?.startedAt ?? '')).toBeGreaterThanOrEqual(endOf(first as Row));
  });

  test.each([
    { session: 'a new session', sessionBehavior: 'new' },
    { session: 'a pinned session that has ended meanwhile', sessionBehavior: 'resume' },
  ])('queue, $session: the run waits until the earlier one has ended', async ({ sessionBehavior }) => {
    const { id, former } = await begin({ overlapBehavior: 'queue', sessionBehavior });
    if (sessionBehavior === 'resume') {
      await isPinned(id, former);
      await pinAway(id, { former: former.sessionId });
    }
    await trigger(id);
    await second(id, ({ status }) => status === 'queued');
    await sweep(id);
    expect((await historyOf(id))[0]).toMatchObject({ status: 'queued', startedAt: null });
    await release(former);
    await eventually(
      () => historyOf(id),
      (rows) => rows[1]?.status === 'success',
      30_000,
    );
    await sweep(id);
    await release(await second(id, isRunning));
    const [later, first] = await ended(id, 2);
    expect(later).toMatchObject({ status: 'success' });
    expect(later?.sessionId).not.toBe(first?.sessionId);
  });

  test.each(['resume', 'new'])(
    'parallel, %s: both run concurrently, in two sessions',
    async (sessionBehavior) => {
      const { id, former } = await begin({ overlapBehavior: 'parallel', sessionBehavior });
      await trigger(id);
      const latter = await second(id, isRunning);
      expect((await historyOf(id)).map(({ status }) => status)).toEqual(['running', 'running']);
      await Promise.all([release(former), release(latter)]);
      const [later, first] = await ended(id, 2);
      expect([first?.status, later?.status]).toEqual(['success', 'success']);
      expect(later?.sessionId).not.toBe(first?.sessionId);
      expect(Date.parse(later?.startedAt ?? '')).toBeLessThan(endOf(first as Row));
      expect(await pinOf(id)).toBe(sessionBehavior === 'new' ? later?.sessionId : former.sessionId);
    },
  );
});

test('one target of several fails alone', async () => {
  const targets = [{ projectId: await newProject() }, { projectId: await newProject() }];
  const { id } = await make({ targets });
  const store = makeScheduleStore(cloud.table);
  await eventually(
    async () => (await store.find(id as ScheduleId))?.schedule,
    (schedule) => schedule?.armedFor !== undefined,
  );
  const read = (await store.find(id as ScheduleId))?.schedule;
  if (read === undefined) throw new Error('there is no such schedule');
  const [first] = read.targets;
  const lost = { project: read.targets[1]?.project, workspace: randomUUID() };
  await store.write({ ...read, targets: [first, lost] as never }, { read, dueAt: undefined });
  const { runs } = await trigger(id);
  expect(runs.map(({ status }) => status)).toEqual(['running', 'running']);
  const rows = await ended(id, 2);
  expect(rows.map(({ status }) => status).toSorted()).toEqual(['failed', 'success']);
  expect(rows.find(({ status }) => status === 'failed')?.error).toContain('workspace_not_found');
});

test('a missed run runs once, late, and is marked as late', async () => {
  const { id } = await make({ cronExpr: '* * * * *' });
  const missed = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;
  await eventually(
    async () => (await makeScheduleStore(cloud.table).find(id as ScheduleId))?.schedule,
    (schedule) => schedule?.armedFor !== undefined,
  );
  const { client, name: TableName } = cloud.table;
  await client.send(
    new UpdateCommand({
      TableName,
      Key: keys.schedule(id),
      UpdateExpression: 'SET nextRunAt = :missed, armedFor = :missed, dueAt = :missed',
      ExpressionAttributeValues: { ':missed': missed },
    }),
  );
  await Promise.all([1, 2, 3].map(() => cloud.schedules({ sweep: 'schedules' })));
  await cloud.schedules({ scheduleId: id, runAt: missed });
  // The minute may turn meanwhile, and bring a run of its own.
  const history = await eventually(
    () => historyOf(id),
    (found) => found.length > 0 && found.every(isOver),
    40_000,
  );
  const rows = history.filter(({ runAt }) => Date.parse(runAt) <= missed + 540_000);
  expect(rows).toEqual([
    expect.objectContaining({ status: 'success', late: true, runAt: new Date(missed).toISOString() }),
  ]);
  await cloud.ask(`/api/schedules/${id}`, { method: 'DELETE' });
});

test('a schedule whose token was revoked stops with the reason, and runs again for the caller that enables it', async () => {
  const projectId = await newProject();
  const made = await post<{ id: string; token: string }>('/api/tokens', {
    name: 't',
    scope: `project:${projectId}`,
  });
  const response = await cloud.request('/api/schedules', {
    method: 'POST',
    headers: { authorization: `Bearer ${made.token}` },
    body: JSON.stringify({ name: 's', cronExpr: seldom, prompt: 'hello' }),
  });
  const { id, targets } = (await response.json()) as Shown;
  expect(targets).toEqual([{ projectId }]);
  await trigger(id);
  expect(await ended(id, 1)).toMatchObject([{ status: 'success' }]);
  await sweep(id);
  await cloud.ask(`/api/tokens/${made.id}`, { method: 'DELETE' });
  await trigger(id);
  const problem = 'the credential of its creator is no longer valid';
  expect((await ended(id, 2))[0]).toMatchObject({ status: 'failed', startedAt: null, error: problem });
  expect(await show(id)).toMatchObject({ enabled: false, nextRunAt: null, disabledReason: problem });
  await cloud.ask(`/api/schedules/${id}`, { method: 'PATCH', body: '{"enabled":true}' });
  expect((await show(id)).disabledReason).toBeUndefined();
  await trigger(id);
  expect((await ended(id, 3))[0]).toMatchObject({ status: 'success' });
});

test('a schedule that runs every minute runs within the minute, by itself, with its outcome', async () => {
  // Its first run comes once: the next try looks at that of another schedule.
  onTestFailed(async () => {
    minutely = await makeMinutely();
  });
  const { id, nextRunAt } = minutely;
  const history = await eventually(
    () => historyOf(id, unswept),
    (rows) => rows.length > 0 && rows.every(isOver),
    75_000,
  );
  const first = history.at(-1);
  expect(first).toMatchObject({ runAt: nextRunAt, status: 'success', trigger: 'schedule' });
  expect(first?.late).toBeUndefined();
  expect(first?.output).toContain('demo');
  expect(Date.parse(first?.startedAt ?? '') - Date.parse(nextRunAt ?? '')).toBeLessThan(20_000);
  const after = await show(id, unswept);
  expect(Date.parse(after.nextRunAt ?? '') - Date.parse(nextRunAt ?? '')).toBeGreaterThanOrEqual(60_000);
});
