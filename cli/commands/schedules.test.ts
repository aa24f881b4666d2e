/** `schedules`, `workspaces`, `projects` and what is said in `sessions`: what each asks the deployment, and prints. */
import { expect, test } from 'vitest';
import { type Routes, startFakeDeployment } from '../fixtures/fake-deployment.ts';
import { makeMachine } from '../fixtures/run-cli.ts';

const loggedIn = async (routes: Routes) => {
  const fake = await startFakeDeployment(routes);
  const variables = { SALLYPORT_URL: fake.url, SALLYPORT_TOKEN: `sp_${'a1'.repeat(32)}` };
  return { fake, ...(await makeMachine(variables)), [Symbol.asyncDispose]: fake[Symbol.asyncDispose] };
};

const schedule = {
  id: 's1',
  name: 'nightly',
  cronExpr: '0 3 * * *',
  prompt: 'tidy up',
  targets: [{ projectId: 'p1', workspaceId: 'w1' }, { projectId: 'p2' }],
  enabled: true,
  overlapBehavior: 'queue',
  sessionBehavior: 'new',
  nextRunAt: '2026-01-02T03:00:00.000Z',
  lastRunAt: null,
};
const shown = [
  'id          s1',
  'name        nightly',
  'cron (UTC)  0 3 * * *',
  'enabled     yes',
  'next run    2026-01-02T03:00:00.000Z',
  'overlap     queue',
  'sessions    new',
  'target      p1/w1',
  'target      p2',
  'prompt      tidy up',
  '',
].join('\n');

test('a schedule is created from the options, and its id printed', async () => {
  await using one = await loggedIn({ 'POST /api/schedules': { status: 201, body: schedule } });
  const wish = ['--cron', '0 3 * * *', '--prompt', 'tidy up', '--target', 'p1/w1', '--target', 'p2'];
  const rest = ['--overlap', 'queue', '--sessions', 'new', '--disabled'];
  expect(await one.run(['schedules', 'create', 'nightly', ...wish, ...rest])).toMatchObject({
    code: 0,
    stdout: 's1\n',
  });
  expect(JSON.parse(one.fake.asked[0]?.body ?? '')).toEqual({
    name: 'nightly',
    cronExpr: '0 3 * * *',
    prompt: 'tidy up',
    targets: [{ projectId: 'p1', workspaceId: 'w1' }, { projectId: 'p2' }],
    overlapBehavior: 'queue',
    sessionBehavior: 'new',
    enabled: false,
  });
});

test('schedules are listed, changed, enabled, disabled and deleted', async () => {
  await using one = await loggedIn({
    'GET /api/schedules': { body: { schedules: [] } },
    'GET /api/schedules?project=p1': { body: { schedules: [schedule] } },
    'GET /api/schedules/s1': { body: schedule },
    'PATCH /api/schedules/s1': { body: schedule },
    'DELETE /api/schedules/s1': { body: { id: 's1' } },
  });
  expect((await one.run(['schedules'])).stdout).toBe(
    'No schedules. Create one with `sallyport schedules create`.\n',
  );
  expect((await one.run(['schedules', 'list', '--project', 'p1'])).stdout).toBe(
    'ID  NAME     CRON       ENABLED  NEXT RUN\ns1  nightly  0 3 * * *  yes      2026-01-02T03:00:00.000Z\n',
  );
  expect((await one.run(['schedules', 'get', 's1'])).stdout).toBe(shown);
  const bodies = async (...args: readonly string[]) => {
    await one.run(['schedules', ...args]);
    return JSON.parse(one.fake.asked.at(-1)?.body ?? '');
  };
  expect(await bodies('update', 's1', '--name', 'n', '--target', 'p2')).toEqual({
    name: 'n',
    targets: [{ projectId: 'p2' }],
  });
  expect(await bodies('enable', 's1')).toEqual({ enabled: true });
  expect(await bodies('disable', 's1')).toEqual({ enabled: false });
  expect((await one.run(['schedules', 'delete', 's1'])).stdout).toBe('Deleted s1.\n');
});

test('a schedule is run manually, and its runs are shown with their outcome', async () => {
  const run = { runAt: 'now', status: 'running', trigger: 'manual' };
  const late = { runAt: 'before', status: 'success', trigger: 'schedule', durationMs: 5, sessionId: 'x' };
  const waiting = { ...run, needsApproval: true };
  await using one = await loggedIn({
    'POST /api/schedules/s1/trigger': { body: { id: 's1', runs: [run] } },
    'GET /api/schedules/s1/history?limit=2': { body: { history: [{ ...late, late: true, output: 'done' }] } },
    'GET /api/schedules/s2/history': { body: { history: [] } },
    'GET /api/schedules/s3/history': { body: { history: [late], next: 'x' } },
    'GET /api/schedules/s4/history': { body: { history: [waiting, { ...waiting, late: true }] } },
  });
  expect((await one.run(['schedules', 'trigger', 's1'])).stdout).toBe(
    'TIME  STATUS   TRIGGER  MS  SESSION  OUTPUT\nnow   running  manual   -   -        -\n',
  );
  expect((await one.run(['schedules', 'history', 's1', '--limit', '2'])).stdout).toBe(
    [
      'TIME    STATUS          TRIGGER   MS  SESSION  OUTPUT',
      'before  success (late)  schedule  5   x        done',
      '',
    ].join('\n'),
  );
  expect((await one.run(['schedules', 'history', 's2'])).stdout).toBe('No runs yet.\n');
  expect((await one.run(['schedules', 'history', 's3'])).stderr).toContain('Older runs exist;');
  expect((await one.run(['schedules', 'history', 's4'])).stdout).toMatch(
    /^now +running, needs approval +manual.*\nnow +running, needs approval \(late\) +manual/m,
  );
});

test('workspaces belong to the named project, or to that of the token', async () => {
  const workspace = {
    id: 'w1',
    project: 'p1',
    isDefault: false,
    externalId: 'thread 1',
    createdAt: 'before',
    activeSessions: 2,
  };
  await using one = await loggedIn({
    'GET /api/projects': { body: { projects: [{ id: 'p1' }] } },
    'GET /api/projects/p1/workspaces': { body: { workspaces: [workspace] } },
    'POST /api/projects/p2/workspaces': { status: 201, body: workspace },
    'GET /api/projects/p1/workspaces/w1': { body: workspace },
    'DELETE /api/projects/p1/workspaces/w1': { body: { id: 'w1' } },
  });
  expect((await one.run(['workspaces'])).stdout).toBe(
    'ID  DEFAULT  SESSIONS  SAVED  EXTERNAL ID  SOURCE\nw1  no       2         -      thread 1     -\n',
  );
  await one.run(['workspaces', 'create', 'w1', '--project', 'p2', '--external-id', 'thread 1']);
  expect(JSON.parse(one.fake.asked.at(-1)?.body ?? '')).toEqual({ id: 'w1', externalId: 'thread 1' });
  expect((await one.run(['workspaces', 'get', 'w1'])).stdout).toContain('active sessions  2\n');
  expect((await one.run(['workspaces', 'delete', 'w1'])).stdout).toBe('Deleted w1.\n');
});

test('a project is changed field by field, a default is cleared, and the project is deleted', async () => {
  await using one = await loggedIn({
    'PATCH /api/projects/p1': { body: { id: 'p1', name: 'n', createdAt: 'before' } },
    'DELETE /api/projects/p1': { body: { id: 'p1' } },
  });
  const asked = ['projects', 'update', 'p1', '--name', 'n', '--flavor', 'small', '--clear', 'model'];
  expect((await one.run(asked)).stdout).toBe(
    'id         p1\nname       n\ncreatedAt  before\nhosts      none\n',
  );
  expect(JSON.parse(one.fake.asked[0]?.body ?? '')).toEqual({ name: 'n', flavor: 'small', model: null });
  const rules = ['--effect-rule', 'approve within=src removes=no', '--effect-rule', 'refuse'];
  await one.run(['projects', 'update', 'p1', ...rules, '--effect-tool', 'write_file']);
  expect(JSON.parse(one.fake.asked[1]?.body ?? '')).toEqual({
    effects: {
      tools: ['write_file'],
      rules: [{ verdict: 'approve', within: ['src'], removes: false }, { verdict: 'refuse' }],
    },
  });
  const wrong = await one.run(['projects', 'update', 'p1', '--effect-rule', 'allow']);
  expect(wrong.stderr).toContain('--effect-rule: "allow": begin with approve, ask or refuse');
  expect((await one.run(['projects', 'delete', 'p1'])).stdout).toBe('Deleted p1.\n');
});

const conversation = [
  { role: 'user', text: 'hello' },
  { role: 'assistant', text: '', calls: [{ name: 'execute_command', args: { command: 'ls' } }] },
  { role: 'tool', text: 'a.txt\nb.txt\n' },
];

test('a message is queued, also from a pipe; calls are decided and a turn is cancelled', async () => {
  await using one = await loggedIn({
    'POST /api/sessions/a/messages': { status: 202, body: { messageId: 'm', lastSeq: 4 } },
    'GET /api/sessions/a/messages': { body: { messages: conversation } },
    'POST /api/sessions/a/approvals/c%201': { body: {} },
    'POST /api/sessions/a/cancel': { status: 202, body: { cancelled: 'turn' } },
  });
  const sent = async (args: readonly string[], stdin?: string) => {
    const { stdout } = await one.run(['sessions', ...args], stdin === undefined ? {} : { stdin });
    return [stdout, JSON.parse(one.fake.asked.at(-1)?.body || 'null')];
  };
  const queued = 'Queued; see `sallyport sessions events a --since 4`.\n';
  expect(await sent(['message', 'a', 'two', 'words'])).toEqual([queued, { text: 'two words' }]);
  expect(await sent(['message', 'a'], 'piped\n')).toEqual([queued, { text: 'piped' }]);
  expect(await one.run(['sessions', 'message', 'a'], { stdin: '' })).toMatchObject({ code: 2 });
  expect((await one.run(['sessions', 'messages', 'a'])).stdout).toBe(
    'user       hello\nassistant  > execute_command ls\ntool       a.txt\n           b.txt\n',
  );
  const digest = 'd'.repeat(64);
  expect(await sent(['approve', 'a', 'c 1', '--always', '--digest', digest])).toEqual([
    'Approved c 1.\n',
    { approved: true, remember: 'session', digest },
  ]);
  expect(await sent(['reject', 'a', 'c 1'])).toEqual(['Rejected c 1.\n', { approved: false }]);
  expect(await sent(['cancel', 'a'])).toEqual(['Cancelled the turn of a.\n', null]);
});

test('a cancel says what was cancelled, and that nothing was', async () => {
  await using one = await loggedIn({
    'POST /api/sessions/a/cancel': { status: 202, body: { cancelled: 'below' } },
    'POST /api/sessions/b/cancel': { status: 202, body: { cancelled: 'nothing' } },
  });
  expect(await one.run(['sessions', 'cancel', 'a'])).toMatchObject({
    code: 0,
    stdout: 'Session a had no turn. Cancelled those of the sessions under it.\n',
  });
  expect(await one.run(['sessions', 'cancel', 'b'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Session b had no turn to cancel\. A program .* `sallyport stop b` /),
  });
});

test('events of child sessions are included, page by page', async () => {
  const event = (index: number) => ({ index, type: 'system', at: 'T', data: {} });
  const path = 'GET /api/sessions/a/events';
  await using one = await loggedIn({
    [`${path}?since_index=-1&include_children=true`]: {
      body: { events: [event(0), event(7)], lastIndex: 0, hasMore: true },
    },
    [`${path}?since_index=0&include_children=true`]: {
      body: { events: [event(1)], lastIndex: 1, hasMore: false },
    },
  });
  const { stdout } = await one.run(['sessions', 'events', 'a', '--children', '--json']);
  expect(JSON.parse(stdout).events).toHaveLength(3);
});
