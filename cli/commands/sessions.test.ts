import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';
import { treeLines } from './session-tree.ts';
import { waitingLines } from './sessions.ts';

test('pending calls are shown in full, with the command that approves the first', () => {
  const long = 'x'.repeat(200);
  expect(
    waitingLines('id-1', [
      { callId: 'call-1', name: 'execute_command', args: { command: `echo ${long}\u001b[2K` } },
      { callId: 'call-2', name: 'list_files', args: {} },
    ]),
  ).toEqual([
    '',
    'Needs approval:',
    `  execute_command {"command":"echo ${long}\\u001b[2K"}`,
    '  list_files {}',
    'Decide the first with `sallyport approvals approve id-1 call-1`, or with `reject`.',
  ]);
});

test('the list names the end of the last turn of a session at rest', async () => {
  const session = (id: string, more: object) => ({
    ...{
      id,
      kind: 'agent',
      status: 'idle',
      flavor: 'small',
      sandbox: null,
      lastActiveAt: 'T',
      pendingApprovals: [],
    },
    ...more,
  });
  const sessions = [
    session('a', { lastStopReason: 'error' }),
    session('b', { lastStopReason: 'end_turn' }),
    session('c', { status: 'running', lastStopReason: 'error' }),
  ];
  await using there = await logIn({ 'GET /api/sessions?status=active': { body: { sessions } } });
  const { stdout } = await there.run(['sessions']);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/)[2])).toEqual([
    ...['STATUS', 'last turn failed', 'idle', 'running', undefined],
  ]);
});

test('ended sessions are asked for only where they are shown', async () => {
  const body = { sessions: [] };
  await using there = await logIn({
    'GET /api/sessions?status=active&project=p': { body },
    'GET /api/sessions': { body },
    'GET /api/sessions?status=failed': { body },
  });
  for (const args of [['--project', 'p'], ['--all'], ['--status', 'failed']])
    expect((await there.run(['sessions', ...args])).code).toBe(0);
});

test('sessions are asked for by all their labels', async () => {
  const body = { sessions: [] };
  await using there = await logIn({
    'GET /api/sessions?status=active&label=team%3Ared&label=run%3A7': { body },
  });
  const labels = ['--label', 'team:red', '--label', 'run:7'];
  expect((await there.run(['sessions', ...labels])).code).toBe(0);
});

test('without pending calls there is no output', () => {
  expect(waitingLines('id-1', [])).toEqual([]);
});

test('a tree is shown with its money, and each session before those below it', () => {
  const one = (id: string, depth: number, parent?: string) => ({
    ...{ id, depth, model: 'm', status: 'idle' as const, needsApproval: id === 'c' },
    ...{ createdAt: '', lastActiveAt: '', inputTokens: 5, outputTokens: 7 },
    ...{ costUsd: 0.25, branchCostUsd: 0.5, reservedUsd: 0 },
    ...(parent === undefined ? {} : { parent }),
  });
  const slice = {
    ...{ maxCostUsd: 2, spentUsd: 0.5, unsettledUsd: 0.25 },
    ...{ maxTotalTokens: 500, totalTokens: 90, unsettledTokens: 10, toolCalls: 3, maxToolCalls: 8 },
    ...{ sandboxSeconds: 61, maxSandboxSeconds: 900, egressBytes: 5, maxEgressBytes: 70 },
  };
  const lines = treeLines({
    ...{ sessionId: 'a', root: 'a', agents: 4, maxCostUsd: 10, spentUsd: 1.5, reservedUsd: 0.125 },
    unsettledUsd: 0.25,
    sessions: [
      one('a', 0),
      { ...one('b', 1, 'a'), slice, title: 'b says' },
      one('c', 1, 'a'),
      one('d', 2, 'b'),
    ],
  });
  const text = lines.join('\n');
  expect(text).toMatch(
    /spent +\$1\.50 of \$10\.00\n.*reserved +\$0\.1250\n.*\$0\.2500, possibly spent, so it counts as spent/,
  );
  expect(text).toMatch(/\n +61 of 900 s of sandboxes, 5 of 70 bytes of egress\n/);
  expect(
    lines.filter((line) => /idle/.test(line)).map((line) => line.replaceAll(/ {2,}(?=\S)/g, '|')),
  ).toEqual([
    'a|idle|$0.2500|$0.5000|5 in, 7 out',
    '|b|idle|$0.2500|$0.5000|$0.7500 of $2.00, 100 of 500 tokens, 3 of 8 tool calls|5 in, 7 out|b says',
    '|d|idle|$0.2500|$0.5000|5 in, 7 out',
    '|c|idle, needs approval|$0.2500|$0.5000|5 in, 7 out',
  ]);
});

test('a pause says what became of the sandbox, and why it is refused', async () => {
  const error = {
    code: 'conflict',
    message: 'a call runs in the workspace',
    suggestions: ['Wait until it ends, or cancel the turn.'],
  };
  await using there = await logIn({
    'POST /api/sessions/a/pause': { body: { id: 'a', status: 'paused', sandbox: { state: 'stopping' } } },
    'POST /api/sessions/b/pause': { body: { id: 'b', status: 'ready', sandbox: null } },
    'POST /api/sessions/c/pause': { status: 409, body: { error } },
  });
  expect((await there.run(['sessions', 'pause', 'a'])).stdout).toBe('Paused a: its sandbox is stopping.\n');
  expect((await there.run(['sessions', 'pause', 'b'])).stdout).toBe('b has no sandbox.\n');
  const { code, stderr } = await there.run(['sessions', 'pause', 'c']);
  expect(code).toBe(1);
  expect(stderr).toContain('a call runs in the workspace');
  expect(stderr).toContain('Wait until it ends');
});
