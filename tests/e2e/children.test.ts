/** Agents that start agents: how deep, how many, what their parents hear, who decides for them, and how trees end. */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { type Logged, makeSession, type Shown, showSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type Client, connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

type Child = Shown & { readonly parent?: string; readonly root?: string; readonly depth: number };

type Placed = { readonly workspace: string; readonly template: string; readonly envNames: readonly string[] };

/** A prompt that the demo provider turns into a call of the tool. */
const ask = (args: object): string => `call session ${JSON.stringify(args)}`;
const spawn = (prompt: string, more: object = {}): string => ask({ action: 'spawn', prompt, ...more });

const open = async (options: object = {}): Promise<Client> => {
  const { id } = await makeSession(cloud, { approvals: 'auto', ...options });
  const client = await connect(cloud, { sessionId: id });
  onTestFinished(async () => {
    await client.close();
    await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });
  });
  await client.untilType('system:ready');
  return client;
};

const answerTo = async (client: Client, text: string, nth = 0): Promise<string> => {
  client.send('message', { text });
  const ownEnd = (await client.untilType('completion', nth)) as { readonly data: { readonly text: string } };
  return ownEnd.data.text;
};

const treeParentsOf = async (root: string): Promise<readonly Child[]> => {
  const { sessions } = await cloud.ask<{ sessions: readonly Child[] }>('/api/sessions?limit=100');
  return sessions.filter((session) => session.root === root);
};

type Branch = { readonly id: string; readonly slice?: { readonly sandboxSeconds: number } };

const branchesOf = async (root: string): Promise<readonly Branch[]> =>
  (await cloud.ask<{ sessions: readonly Branch[] }>(`/api/sessions/${root}/tree`)).sessions;

/** Frames without a number are not known for repeated by it. */
const distinct = (frames: Client['frames']): Client['frames'] => [
  ...new Map(frames.map((frame) => [JSON.stringify([frame.type, frame.data]), frame])).values(),
];

const projectWith = (limits: object): Promise<{ readonly id: string }> =>
  cloud.ask('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'trees', approvals: 'auto', limits }),
  });

const eventsOf = async (
  id: string,
  query = '',
): Promise<readonly (Logged & { readonly sessionId: string })[]> => {
  const { events } = await cloud.ask<{ events: readonly (Logged & { readonly sessionId: string })[] }>(
    `/api/sessions/${id}/events${query}`,
  );
  return events;
};

const itemAt = async (key: { readonly pk: string; readonly sk: string }) => {
  const { client, name: TableName } = cloud.table;
  return (await client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }))).Item ?? {};
};
const metaOf = async (id: string) =>
  (await itemAt(keys.session(id))) as { leaseUntil: number; status: string };

/** The completions of one session's own log, as many as are wanted. */
const ownCompletion = (id: string, nth = 0): Promise<Logged> =>
  eventually(
    async () => (await eventsOf(id)).filter(({ type }) => type === 'completion')[nth],
    (found) => found !== undefined,
    60_000,
  ) as Promise<Logged>;

test('a child works for its parent, which waits without a function and continues with the answer', async () => {
  const client = await open();
  client.send('message', { text: spawn('$ echo from the child') });
  const { data } = await ownCompletion(client.sessionId());
  expect(data['text']).toContain('from the child');
  const [child] = await treeParentsOf(client.sessionId());
  expect(child).toMatchObject({
    depth: 1,
    parent: client.sessionId(),
    root: client.sessionId(),
    status: 'idle',
    title: '$ echo from the child',
  });
  const asked = (await eventsOf(client.sessionId())).find(
    ({ type, data: said }) => type === 'system' && said['kind'] === 'child_asked',
  );
  expect(asked?.data).toMatchObject({ sessionId: child?.id });
  expect(data['text']).toContain(`session_id: ${child?.id}`);
});

test('CH5: a child that is given less works on a fork: it has the files, not what was held back, and changes nothing', async () => {
  const client = await open({ env: { KEPT: 'yes', HELD: 'secret' }, flavor: 'small' });
  await answerTo(client, '$ echo of the parent > shared.txt');
  const look = '$ cat shared.txt; echo "$KEPT-$HELD-"; echo of the child > shared.txt';
  const told = await answerTo(client, spawn(look, { env: ['KEPT'] }), 1);
  expect(told).toContain('of the parent');
  expect(told).toContain('yes--');
  const parent = await showSession(cloud, client.sessionId());
  const [child] = (await treeParentsOf(client.sessionId())) as readonly (Child & Placed)[];
  expect(child?.workspace).not.toBe(parent.workspace);
  expect(child).toMatchObject({ envNames: ['KEPT'], template: 'python', flavor: 'small' });
  expect(await answerTo(client, '$ cat shared.txt; echo $HELD', 2)).toMatch(/of the parent\s+secret/);

  const node = await answerTo(client, spawn('$ cat shared.txt', { template: 'node', flavor: 'micro' }), 3);
  expect(node).toContain('of the parent');
  expect(await treeParentsOf(client.sessionId())).toContainEqual(
    expect.objectContaining({ template: 'node', flavor: 'micro' }),
  );

  const same = await answerTo(
    client,
    spawn('$ cat shared.txt', { template: 'python', env: ['KEPT', 'HELD'] }),
    4,
  );
  expect(same).toContain('of the parent');
  const joined = (await treeParentsOf(client.sessionId())) as readonly (Child & Placed)[];
  expect(joined.filter(({ workspace }) => workspace === parent.workspace)).toHaveLength(1);
});

test.each([
  [{ flavor: 'large' }, 'flavor: at most micro, your own'],
  [{ env: ['PATH'] }, 'env: you have no variable PATH'],
  [{ template: 'ruby' }, 'template: use one of python, node'],
  [{ network: ['a.example.org'] }, 'network: you may not reach a.example.org'],
  [{ max_cost_usd: 11 }, 'max_cost_usd: 10 is left of your budget'],
  [{ max_tool_calls: 0 }, 'max_tool_calls'],
])('a child cannot be given %j', async (more, problem) => {
  const client = await open();
  expect(await answerTo(client, spawn('hello', more))).toContain(problem);
  expect(await treeParentsOf(client.sessionId())).toEqual([]);
});

test('TM8: a child that is given a part of the money has it in the tree, with all below it', async () => {
  const client = await open();
  await answerTo(client, spawn(spawn('hello'), { max_cost_usd: 0.5, max_seconds: 600 }));
  const root = client.sessionId();
  const tree = await cloud.ask<{ sessions: readonly { id: string; parent?: string }[] }>(
    `/api/sessions/${root}/tree`,
  );
  const [, child] = tree.sessions;
  const money = { costUsd: 0, branchCostUsd: 0, reservedUsd: 0 };
  const slice = { maxCostUsd: 0.5, spentUsd: 0, unsettledUsd: 0 };
  expect(tree).toMatchObject({
    ...{ sessionId: root, root, agents: 3, maxCostUsd: 10, spentUsd: 0, reservedUsd: 0, unsettledUsd: 0 },
    sessions: [
      { id: root, depth: 0, needsApproval: false, ...money },
      { parent: root, depth: 1, title: expect.stringContaining('call session'), ...money, slice },
      { parent: child?.id, depth: 2, title: 'hello', until: expect.any(String), ...money },
    ],
  });
  expect(tree.sessions[2]).not.toHaveProperty('slice');
  const ofChild = await cloud.ask<typeof tree>(`/api/sessions/${child?.id}/tree`);
  expect(ofChild).toMatchObject({ root, agents: 3 });
  expect(ofChild.sessions).toEqual(tree.sessions.slice(1));
});

test('TM9: a child has the tool calls that it was given, and answers without more', async () => {
  const client = await open();
  const given = { max_tool_calls: 1, max_total_tokens: 1_000_000 };
  await answerTo(client, spawn(spawn('$ echo the bottom'), given));
  const { sessions } = await cloud.ask<{ sessions: readonly { id: string; slice?: object }[] }>(
    `/api/sessions/${client.sessionId()}/tree`,
  );
  const [, child, grandchild] = sessions;
  expect(child?.slice).toMatchObject({
    ...{ maxToolCalls: 1, toolCalls: 1, maxTotalTokens: 1_000_000, unsettledTokens: 0 },
    totalTokens: expect.any(Number),
  });
  expect(child?.slice).not.toHaveProperty('maxCostUsd');
  // Its own call started it: none was left for the command.
  const { events } = await cloud.ask<{ events: readonly { type: string; data: object }[] }>(
    `/api/sessions/${grandchild?.id}/events`,
  );
  expect(events.filter(({ type }) => type === 'tool:call')).toEqual([]);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'completion',
      data: expect.objectContaining({ stopReason: 'budget_exceeded' }),
    }),
  );
});

test('TM9: a new session is given a slice, within which its whole tree stays', async () => {
  const client = await open({ slice: { maxToolCalls: 2, maxSandboxSeconds: 600 } });
  const root = client.sessionId();
  expect(await answerTo(client, spawn('hello', { max_tool_calls: 2 }))).toContain(
    'max_tool_calls: 1 is left of your budget',
  );
  expect(await answerTo(client, '$ echo once', 1)).toContain('once');
  client.send('message', { text: '$ echo twice' });
  expect(await client.untilType('completion', 2)).toMatchObject({ data: { stopReason: 'budget_exceeded' } });
  const [own] = await branchesOf(root);
  expect(own).toMatchObject({ id: root, slice: { maxToolCalls: 2, toolCalls: 2, maxSandboxSeconds: 600 } });
  expect(own?.slice?.sandboxSeconds).toBeGreaterThan(0);
});

test('TM10: a child has the sandbox seconds that it was given, in a sandbox of its own', async () => {
  const client = await open();
  const root = client.sessionId();
  const told = await answerTo(client, spawn('$ echo in time > kept; cat kept', { max_sandbox_seconds: 600 }));
  expect(told).toContain('in time');
  const [, child] = await branchesOf(root);
  expect(child?.slice).toMatchObject({ maxSandboxSeconds: 600, sandboxSeconds: expect.any(Number) });
  expect(child?.slice?.sandboxSeconds).toBeGreaterThan(0);
  const id = child?.id ?? '';
  const { workspace } = await showSession(cloud, id);
  expect(workspace).not.toBe((await showSession(cloud, root)).workspace);
  const say = (prompt: string, nth: number) =>
    answerTo(client, ask({ action: 'message', session_id: id, prompt }), nth);

  // As if the time were over, and its sandbox due.
  const { client: table, name: TableName } = cloud.table;
  const used = {
    UpdateExpression: 'SET slices.#id.sandboxMs = :ms',
    ExpressionAttributeNames: { '#id': id },
  };
  const ofTree = { Key: keys.tree(root), ...used, ExpressionAttributeValues: { ':ms': 600_000 } };
  await table.send(new UpdateCommand({ TableName, ...ofTree }));
  const due = { UpdateExpression: 'SET dueAt = :now', ExpressionAttributeValues: { ':now': Date.now() - 1 } };
  await table.send(new UpdateCommand({ TableName, Key: keys.workspace(workspace), ...due }));
  await cloud.janitor({ sweep: 'due' });
  const stopped = await eventually(
    () => showSession(cloud, id),
    ({ sandbox }) => sandbox?.state === 'stopped',
  );
  expect(stopped.sandbox?.reason).toBe('its sandbox seconds are used up');
  expect(await say('$ cat kept', 1)).toContain('the sandbox seconds of this session are used up');
  const counted = (await branchesOf(root))[1]?.slice?.sandboxSeconds;
  expect(counted).toBeGreaterThan(600);
  expect((await branchesOf(root))[1]?.slice?.sandboxSeconds).toBe(counted);
});

test('depth 3 works under a limit of 3, and 4 is an error for the agent', async () => {
  const nested = (depth: number): string => (depth === 0 ? '$ echo the bottom' : spawn(nested(depth - 1)));
  const client = await open();
  client.send('message', { text: nested(3) });
  const deep = await ownCompletion(client.sessionId());
  expect(deep.data['text']).toContain('the bottom');
  expect((await treeParentsOf(client.sessionId())).map(({ depth }) => depth).sort()).toEqual([1, 2, 3]);
  client.send('message', { text: nested(4) });
  const { data } = await ownCompletion(client.sessionId(), 1);
  expect(data['text']).toContain('Max recursion depth (3) exceeded');
  expect(data['text']).not.toContain('the bottom');
});

test('three children in parallel give three results', async () => {
  const client = await open();
  const lines = [1, 2, 3].map((n) => spawn(`$ sleep 3; echo result ${n}`));
  client.send('message', { text: lines.join('\n') });
  await eventually(
    () => treeParentsOf(client.sessionId()),
    (family) => family.length === 3,
  );
  // Nobody is at work in it: its lease is free while the children sleep.
  const { leaseUntil, status } = await eventually(
    () => metaOf(client.sessionId()),
    ({ leaseUntil: until }) => until === 0,
  );
  expect({ leaseUntil, status }).toEqual({ leaseUntil: 0, status: 'running' });
  const { data } = await ownCompletion(client.sessionId());
  for (const n of [1, 2, 3]) expect(data['text']).toContain(`result ${n}`);
  expect(await treeParentsOf(client.sessionId())).toHaveLength(3);
});

test('a tree has as many agents as its project allows, including the root', async () => {
  const { id: project } = await projectWith({ maxAgentsPerSession: 2 });
  const client = await open({ project });
  client.send('message', { text: [spawn('$ echo one'), spawn('$ echo two')].join('\n') });
  const { data } = await ownCompletion(client.sessionId());
  expect(data['text']).toContain('a tree of sessions has at most 2 agents');
  expect(await treeParentsOf(client.sessionId())).toHaveLength(1);
});

test('a session that may start none is not offered the tool', async () => {
  const { id: project } = await projectWith({ maxRecursionDepth: 0 });
  const client = await open({ project });
  const { data } = await client.untilType('system:ready');
  expect(data.tools).not.toContain('session');
  expect(await answerTo(client, spawn('hello'))).toContain('This is the demo provider');
});

test('approvals of its children reach subscribers of the root, and are decided there', async () => {
  const client = await open({ approvals: 'ask' });
  client.send('message', { text: spawn('$ echo allowed') });
  const own = await client.untilType('tool:approval_required');
  client.send('tool:approval', { callId: own.data.callId, approved: true });
  const asked = await client.untilType('tool:approval_required', 1);
  expect(asked.sessionId).not.toBe(client.sessionId());
  expect(asked).toMatchObject({
    seq: null,
    data: { name: 'execute_command', args: { command: 'echo allowed' } },
  });

  const late = await connect(cloud, { sessionId: client.sessionId() });
  onTestFinished(() => late.close());
  const again = await late.untilType('tool:approval_required');
  expect(again).toMatchObject({ sessionId: asked.sessionId, seq: null, data: { callId: asked.data.callId } });

  late.send('tool:approval', { callId: asked.data.callId, approved: true, sessionId: asked.sessionId });
  const { sessionId, data } = await client.untilType('completion');
  expect(sessionId).toBe(client.sessionId());
  expect(data.text).toContain('allowed');
  // The last frames of a turn are published again by an invocation that finds nothing to do.
  const below = distinct(client.frames.filter((frame) => frame.sessionId === asked.sessionId));
  expect(below.map(({ type }) => type)).toEqual(['tool:approval_required', 'system', 'system']);
  expect(below[1]?.data).toEqual({ kind: 'child_settled', callId: asked.data.callId });
  expect(below[2]?.data).toEqual({ kind: 'child_settled' });
});

test('a call of another tree cannot be decided', async () => {
  const other = await open({ approvals: 'ask' });
  other.send('message', { text: '$ echo other' });
  const { data: waiting } = await other.untilType('tool:approval_required');
  const client = await open();
  client.send('tool:approval', { callId: waiting.callId, approved: true, sessionId: other.sessionId() });
  const { data } = await client.untilType('error');
  expect(data.error).toMatchObject({ code: 'session_not_found' });
});

test('a failing child fails its call, with the reason', async () => {
  const { id: project } = await projectWith({});
  const client = await open({ project, approvals: 'ask' });
  client.send('message', { text: spawn('$ sleep 60') });
  client.send('tool:approval', {
    callId: (await client.untilType('tool:approval_required')).data.callId,
    approved: true,
  });
  const { sessionId: child } = await client.untilType('tool:approval_required', 1);
  await cloud.ask(`/api/sessions/${child}/cancel`, { method: 'POST' });
  const { data } = await ownCompletion(client.sessionId());
  expect(data['text']).toMatch(/session failed:[\s\S]*it stopped: cancelled/);
});

test('an agent starts a child without waiting, messages it, reads it and ends it', async () => {
  const client = await open();
  client.send('message', { text: spawn('$ echo first', { wait: false }) });
  await ownCompletion(client.sessionId());
  const [child] = await treeParentsOf(client.sessionId());
  const id = child?.id ?? '';
  await ownCompletion(id);
  const of = (action: string, more: object = {}): string => ask({ action, session_id: id, ...more });
  client.send('message', { text: of('message', { prompt: '$ echo second' }) });
  expect((await ownCompletion(client.sessionId(), 1)).data['text']).toContain('second');
  client.send('message', { text: [ask({ action: 'list' }), of('get'), of('events')].join('\n') });
  const looked = (await ownCompletion(client.sessionId(), 2)).data['text'];
  expect(looked).toContain(`"session_id":"${id}"`);
  expect(looked).toContain('echo first');
  client.send('message', { text: of('end') });
  expect((await ownCompletion(client.sessionId(), 3)).data['text']).toContain('"ended":true');
  expect((await showSession(cloud, id)).status).toBe('completed');
  client.send('message', { text: of('message', { prompt: 'hello?' }) });
  expect((await ownCompletion(client.sessionId(), 4)).data['text']).toContain('is completed');
});

test('an agent cannot reach another’s session, and wrong fields are named', async () => {
  const stranger = await open();
  const client = await open();
  const text = [
    ask({ action: 'get', session_id: stranger.sessionId() }),
    ask({ action: 'spawn' }),
    ask({ action: 'explode' }),
  ].join('\n');
  client.send('message', { text });
  const said = String((await ownCompletion(client.sessionId())).data['text']);
  expect(said).toContain('there is no such session');
  expect(said).toMatch(/prompt: /);
  expect(said).toMatch(/action: /);
});

test('the logs of a tree are read as one, in order of time', async () => {
  const client = await open();
  client.send('message', { text: spawn('$ echo in the family') });
  await ownCompletion(client.sessionId());
  const events = await eventsOf(client.sessionId(), '?include_children=true');
  const times = events.map((event) => Date.parse((event as unknown as { at: string }).at));
  expect(times).toEqual([...times].sort((one, other) => one - other));
  const [child] = await treeParentsOf(client.sessionId());
  const kinds = events.filter(({ sessionId }) => sessionId === child?.id).map(({ type }) => type);
  expect(kinds).toEqual(expect.arrayContaining(['message', 'tool:call', 'tool:output', 'completion']));
});

test('a child answers only its parent: a message to the workspace does not reach it', async () => {
  const client = await open();
  client.send('message', { text: spawn('$ echo mine') });
  await ownCompletion(client.sessionId());
  const [child] = await treeParentsOf(client.sessionId());
  expect((await showSession(cloud, client.sessionId())).workspace).toBe(child?.workspace);
  expect((await itemAt(keys.workspace(child?.workspace ?? '')))['latestAgent']).toBe(client.sessionId());
});

test('cancelling a parent cancels its children’s work', async () => {
  const client = await open();
  client.send('message', { text: [spawn('$ sleep 300'), spawn(spawn('$ sleep 300'))].join('\n') });
  await eventually(
    () => treeParentsOf(client.sessionId()),
    (family) => family.length === 3,
    60_000,
  );
  client.send('turn:cancel');
  const { data } = await ownCompletion(client.sessionId());
  expect(data['stopReason']).toBe('cancelled');
  await eventually(
    () => treeParentsOf(client.sessionId()),
    (family) => family.every(({ status }) => status === 'idle'),
    30_000,
  );
});

test('stopping the root (CH4) leaves no session and no sandbox of its tree', async () => {
  const client = await open();
  const inOwn = { workspace: 'own' };
  client.send('message', {
    text: [spawn('$ sleep 300', inOwn), spawn(spawn('$ sleep 300', inOwn), inOwn)].join('\n'),
  });
  const family = await eventually(
    () => treeParentsOf(client.sessionId()),
    (found) => found.length === 3 && found.filter(({ sandbox }) => sandbox?.state === 'ready').length >= 2,
    60_000,
  );
  expect(new Set(family.map(({ workspace }) => workspace)).size).toBe(3);
  await cloud.ask(`/api/sessions/${client.sessionId()}`, { method: 'DELETE' });
  await eventually(
    () => treeParentsOf(client.sessionId()),
    (found) =>
      found.every(
        ({ status, sandbox }) => status === 'completed' && (sandbox?.state ?? 'stopped') === 'stopped',
      ),
    60_000,
  );
  await eventually(cloud.runningTasks, (tasks) => tasks.length === 0);
});
