/** The approved call is the one that runs: by digest, whole, on record, and by no other owner. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeSession } from './agent.ts';
import { type AnthropicServer, openAnthropicServer } from './anthropic-server.ts';
import { digestOf } from './call-digest.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type Client, connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
let model: AnthropicServer;
beforeAll(async () => {
  model = await openAnthropicServer();
  cloud = await openEmbeddedCloud({
    variables: { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: model.url, LLM_PROVIDER: 'demo' },
  });
});
/** A failed try leaves answers that nobody asked for. */
beforeEach(() => {
  model.script.length = 0;
});
afterAll(async () => {
  await cloud.stop();
  model.close();
});

type Json = Readonly<Record<string, unknown>>;

const open = async (options: object = {}): Promise<Client & { readonly id: string }> => {
  const { id } = await makeSession(cloud, { flavor: 'micro', ...options });
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  // It holds a slot of its project until it ends.
  onTestFinished(async () => {
    await client.close();
    await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });
  });
  return { ...client, id };
};

const post = (path: string, body: object, token?: string) =>
  cloud.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
const codeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { error?: { code: string } }).error?.code,
];
const decisions = (client: Client) =>
  client.frames.filter(({ type }) => type === 'tool:decided').map(({ data }) => data);
const auditOf = async (subject: string): Promise<readonly Json[]> => {
  const { rows } = await cloud.ask<{ rows: readonly Json[] }>('/api/audit');
  return rows.filter((row) => row['subject'] === subject);
};

describe('a pending call', () => {
  test('has its turn, its digest and its time, the same for all subscribers', async () => {
    const client = await open();
    client.send('message', { text: '$ echo one' });
    const { data } = await client.untilType('tool:approval_required');
    expect(data).toEqual({
      ...{ turnId: expect.any(String), callId: expect.any(String), name: 'execute_command' },
      ...{ args: { command: 'echo one' }, digest: digestOf(data), queuePosition: 1, totalInQueue: 1 },
      askedAt: expect.stringMatching(/^20\d\d-.*Z$/),
    });
    const whole = await cloud.ask(`/api/sessions/${client.id}/approvals/${data.callId}`);
    expect(whole).toEqual({ sessionId: client.id, ...data });
    const { pendingApprovals } = await cloud.ask<{ pendingApprovals: unknown }>(`/api/sessions/${client.id}`);
    expect(pendingApprovals).toEqual([data]);
    const { approvals } = await cloud.ask<{ approvals: readonly Json[] }>('/api/approvals');
    expect(approvals.filter(({ sessionId }) => sessionId === client.id)).toEqual([
      { sessionId: client.id, title: '$ echo one', project: expect.any(String), ...data },
    ]);
    await post(`/api/sessions/${client.id}/cancel`, {});
    await client.untilType('completion');
    expect((await cloud.request(`/api/sessions/${client.id}/approvals/${data.callId}`)).status).toBe(404);
  });

  test('is decided by its digest and its turn, and by no other', async () => {
    const client = await open();
    client.send('message', { text: '$ echo one' });
    const { data } = await client.untilType('tool:approval_required');
    const path = `/api/sessions/${client.id}/approvals/${data.callId}`;
    const wrong = 'a'.repeat(64);
    expect(await codeOf(await post(path, { approved: true, digest: wrong }))).toEqual([409, 'conflict']);
    expect(await codeOf(await post(path, { approved: false, digest: wrong }))).toEqual([409, 'conflict']);
    expect(await codeOf(await post(path, { approved: true, turnId: 'another' }))).toEqual([409, 'conflict']);
    expect(await codeOf(await post(path, { approved: true, digest: 'short' }))).toEqual([409, 'conflict']);
    client.send('tool:approval', { callId: data.callId, approved: true, digest: wrong });
    expect((await client.untilType('error')).data.error.code).toBe('conflict');
    expect(decisions(client)).toEqual([]);
    const both = await Promise.all(
      [1, 2].map(() => post(path, { approved: true, digest: data.digest, turnId: data.turnId })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await client.untilType('completion');
    const by = { kind: 'token', id: expect.any(String), name: 'admin' };
    expect(decisions(client)).toEqual([
      {
        ...{ turnId: data.turnId, callId: data.callId, name: 'execute_command', approved: true },
        ...{ by, digest: data.digest },
      },
    ]);
    const rows = await auditOf(client.id);
    expect(rows.map(({ action }) => action)).toEqual(Array(7).fill('approval.decide'));
    const outcomes = rows.map(({ detail }) => (detail as Json)['refused'] ?? 'made').toReversed();
    expect(outcomes.slice(0, 5)).toEqual(Array(5).fill('conflict'));
    expect(outcomes.slice(5).sort()).toEqual(['made', 'no_pending_tool_call']);
    expect(rows.find(({ detail }) => !('refused' in (detail as Json)))).toMatchObject({
      detail: {
        ...{ sessionId: client.id, turnId: data.turnId, callId: data.callId, name: 'execute_command' },
        ...{ approved: true, digest: data.digest, by },
      },
    });
  });

  test('is decided only by its owner, and never after a cancel; the audit log names every attempt', async () => {
    const client = await open();
    const { id: project } = await cloud.ask<{ id: string }>('/api/projects', {
      method: 'POST',
      body: JSON.stringify({ name: 'another' }),
    });
    const stranger = await cloud.ask<{ token: string; id: string }>('/api/tokens', {
      method: 'POST',
      body: JSON.stringify({ name: 'stranger', scope: `project:${project}` }),
    });
    client.send('message', { text: '$ echo one' });
    const { data } = await client.untilType('tool:approval_required');
    const path = `/api/sessions/${client.id}/approvals/${data.callId}`;
    const decision = { approved: true, digest: data.digest };
    expect(await codeOf(await post(path, decision, stranger.token))).toEqual([404, 'session_not_found']);
    await post(`/api/sessions/${client.id}/cancel`, {});
    await client.untilType('completion');
    expect(await codeOf(await post(path, decision))).toEqual([409, 'no_pending_tool_call']);
    const rows = await auditOf(client.id);
    expect(
      rows.map(({ actor, actorName, detail }) => [actor, actorName, (detail as Json)['refused']]),
    ).toEqual([
      [expect.any(String), 'admin', 'no_pending_tool_call'],
      [stranger.id, 'stranger', 'session_not_found'],
    ]);
    expect(
      (await cloud.request('/api/audit', { headers: { authorization: `Bearer ${stranger.token}` } })).status,
    ).toBe(403);
  });

  test('is not decided by an old decision when a provider repeats its id', async () => {
    const client = await open({ provider: 'anthropic', model: 'claude-sonnet-4-5' });
    const call = { id: 'toolu_same', name: 'execute_command', input: { command: 'echo one' } };
    model.script.push([call], [call]);
    client.send('message', { text: 'go' });
    const first = (await client.untilType('tool:approval_required')).data;
    client.send('tool:approval', { callId: first.callId, approved: true });
    const second = (await client.untilType('tool:approval_required', 1)).data;
    expect(second.callId).not.toBe(first.callId);
    client.send('tool:approval', { callId: first.callId, approved: true });
    expect((await client.untilType('error')).data.error.code).toBe('no_pending_tool_call');
    await post(`/api/sessions/${client.id}/cancel`, {});
    await client.untilType('completion');
  });
});

describe('a decision', () => {
  test('tells the model why a call was rejected', async () => {
    const client = await open({ provider: 'anthropic', model: 'claude-sonnet-4-5' });
    model.script.push([{ id: 'toolu_1', name: 'execute_command', input: { command: 'rm -rf .' } }]);
    client.send('message', { text: 'go' });
    const { data } = await client.untilType('tool:approval_required');
    client.send('tool:approval', { callId: data.callId, approved: false, reason: 'not the whole folder' });
    await client.untilType('completion');
    expect(JSON.stringify(model.asked.at(-1))).toContain('The user rejected this call: not the whole folder');
    expect(decisions(client)).toMatchObject([{ approved: false, reason: 'not the whole folder' }]);
    const path = `/api/sessions/${client.id}/approvals/x`;
    const long = await post(path, { approved: false, reason: 'x'.repeat(2001) });
    expect(await codeOf(long)).toEqual([400, 'invalid_request']);
  });

  test('runs the call as the person changed it, and reports it to model and log', async () => {
    const client = await open({ provider: 'anthropic', model: 'claude-sonnet-4-5' });
    model.script.push([{ id: 'toolu_2', name: 'execute_command', input: { command: 'echo theirs' } }]);
    client.send('message', { text: 'go' });
    const { data } = await client.untilType('tool:approval_required');
    const args = { command: 'echo mine' };
    const decided = await post(`/api/sessions/${client.id}/approvals/${data.callId}`, {
      ...{ approved: true, digest: data.digest, args },
    });
    const editedDigest = digestOf({ ...data, args });
    expect(await decided.json()).toEqual({
      ...{ callId: data.callId, approved: true, digest: data.digest, editedDigest },
    });
    await client.untilType('completion');
    const { data: output } = await client.untilType('tool:output');
    expect(output.content[0].text).toBe('mine\n');
    expect(JSON.stringify(model.asked.at(-1))).toContain('It ran with {\\"command\\":\\"echo mine\\"}');
    expect(decisions(client)).toMatchObject([{ digest: data.digest, editedDigest, editedArgs: args }]);
  });

  test('with a prefix covers such commands and no others, until it is withdrawn', async () => {
    const client = await open();
    client.send('message', { text: '$ git status' });
    const first = (await client.untilType('tool:approval_required')).data;
    const remember = { prefix: 'git status' };
    client.send('tool:approval', { callId: first.callId, approved: true, digest: first.digest, remember });
    await client.untilType('completion');
    const { grants } = await cloud.ask<{ grants: readonly Json[] }>(`/api/sessions/${client.id}/grants`);
    expect(grants).toEqual([
      {
        ...{ id: expect.any(String), tool: 'execute_command', prefix: 'git status' },
        ...{ by: { kind: 'token', id: expect.any(String), name: 'admin' }, at: expect.any(String) },
      },
    ]);
    client.send('message', { text: '$ git status -s\n$ git status; echo no' });
    const other = (await client.untilType('tool:approval_required', 1)).data;
    expect(other).toMatchObject({ args: { command: 'git status; echo no' }, totalInQueue: 1 });
    expect(decisions(client)[1]).toMatchObject({ by: { kind: 'grant', id: grants[0]?.['id'] } });
    client.send('tool:approval', { callId: other.callId, approved: false });
    await client.untilType('completion', 1);
    const path = `/api/sessions/${client.id}/grants/${grants[0]?.['id']}`;
    expect((await cloud.request(path, { method: 'DELETE' })).status).toBe(200);
    expect((await cloud.request(path, { method: 'DELETE' })).status).toBe(404);
    client.send('message', { text: '$ git status' });
    await client.untilType('tool:approval_required', 2);
    expect(await cloud.ask(`/api/sessions/${client.id}/grants`)).toEqual({ grants: [] });
    const actions = (await auditOf(client.id)).map(({ action }) => action);
    expect(actions).toContain('grant.withdraw');
  });

  test.each([
    [{ approved: true, remember: { prefix: 'git;' } }, 'remember.prefix'],
    [{ approved: true, remember: { prefix: '' } }, 'remember'],
    [{ approved: true, remember: 'for ever' }, 'remember'],
    [{ approved: false, args: { command: 'x' } }, 'args'],
    [{ approved: true, args: { nonsense: 1 } }, 'args: command: is required'],
    [{ approved: true, args: { command: 'x', timeout: 0 } }, 'args: timeout'],
  ])('of %j is refused by name', async (decision, named) => {
    const client = await open();
    client.send('message', { text: '$ echo one' });
    const { data } = await client.untilType('tool:approval_required');
    const response = await post(`/api/sessions/${client.id}/approvals/${data.callId}`, decision);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(named);
    await post(`/api/sessions/${client.id}/cancel`, {});
    await client.untilType('completion');
  });
});

const lengths = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index % 7}`);
const blanks = Array.from({ length: 60 }, (_, index) =>
  String.fromCodePoint([0x20, 0xa0, 0xad, 0x3164, 0x2800, 0xfe0f, 0x34f][index % 7] ?? 0x2000 + index),
).join('');

describe('arguments', () => {
  test.each([
    ['1 KB', { path: 'a', content: 'x'.repeat(1024) }],
    ['40 KB', { path: 'a', content: `safe${'A'.repeat(40_000)}tail` }],
    ['1 MB', { path: 'a', content: `${'y'.repeat(1_000_000)}tail` }],
    ['1 MB that does not compress', { path: 'a', content: randomBytes(700_000).toString('base64') }],
    ['9,000 short strings', { path: 'a', content: 'x', more: lengths(9000) }],
    ['right-to-left marks', { path: 'a', content: 'safe \u202e txt.exe \u2066 \u200f' }],
    ['60 blanks', { path: 'a', content: blanks }],
  ])('of %s are shown, digested and run byte for byte', async (_what, input) => {
    const client = await open({ provider: 'anthropic', model: 'claude-sonnet-4-5' });
    model.script.push([{ id: 'toolu_3', name: 'write_file', input }]);
    client.send('message', { text: 'go' });
    const { data } = await client.untilType('tool:approval_required');
    const isCut = JSON.stringify(input).length > 30_000;
    expect(data).toMatchObject({
      callId: expect.any(String),
      name: 'write_file',
      turnId: expect.any(String),
    });
    expect(data.argsTruncated).toBe(isCut ? true : undefined);
    const path = `/api/sessions/${client.id}/approvals/${data.callId}`;
    const whole = await cloud.ask<Json>(path);
    expect(whole['args']).toEqual(input);
    expect(whole['digest']).toBe(digestOf(whole));
    expect(data.digest).toBe(whole['digest']);
    const { approvals } = await cloud.ask<{ approvals: readonly Json[] }>('/api/approvals');
    const listed = approvals.find(({ sessionId }) => sessionId === client.id);
    expect(JSON.stringify(listed?.['args']).length).toBeLessThan(4097 * 3);
    expect(listed?.['argsTruncated']).toBe(JSON.stringify(input).length > 4096 ? true : undefined);
    if (isCut) {
      expect(await codeOf(await post(path, { approved: true }))).toEqual([409, 'conflict']);
      client.send('tool:approval', { callId: data.callId, approved: true });
      expect((await client.untilType('error')).data.error.code).toBe('conflict');
    }
    const { more: _, ...runnable } = input as { more?: unknown; path: string; content: string };
    const edit = 'more' in input ? { args: runnable } : {};
    expect((await post(path, { approved: true, digest: data.digest, ...edit })).status).toBe(200);
    await client.untilType('completion');
    const written = await cloud.request(`/api/sessions/${client.id}/files/a`);
    expect(Buffer.from(await written.arrayBuffer()).equals(Buffer.from(input.content))).toBe(true);
  });

  test('with half of a surrogate pair are refused as malformed', async () => {
    const client = await open({ provider: 'anthropic', model: 'claude-sonnet-4-5', approvals: 'auto' });
    model.script.push([{ id: 'toolu_4', name: 'write_file', input: { path: 'a', content: 'x\ud800' } }]);
    client.send('message', { text: 'go' });
    await client.untilType('completion');
    const { data } = await client.untilType('agent:error');
    expect(data.message).toContain('write_file failed');
  });
});

describe('approvers', () => {
  test('receive the number of pending calls over all sessions and their children, as it changes', async () => {
    const approver = await connect(cloud, { approvals: 'true' });
    onTestFinished(() => approver.close());
    const first = await approver.untilType('approvals');
    expect(first).toMatchObject({ sessionId: null, seq: null });
    const before = first.data.waiting;
    const [one, two] = [await open(), await open()];
    one.send('message', { text: '$ echo one' });
    two.send('message', { text: '$ echo two\n$ echo three' });
    await eventually(
      () => Promise.resolve(approver.frames.at(-1)?.data.waiting),
      (waiting) => waiting === before + 2,
    );
    const { approvals } = await cloud.ask<{ approvals: readonly Json[] }>('/api/approvals');
    const times = approvals.map(({ askedAt }) => String(askedAt));
    expect(times).toEqual(times.toSorted());
    expect(approvals.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining([one.id, two.id]));
    const { data } = await one.untilType('tool:approval_required');
    approver.send('tool:approval', {
      sessionId: one.id,
      callId: data.callId,
      digest: data.digest,
      approved: false,
    });
    await one.untilType('completion');
    await eventually(
      () => Promise.resolve(approver.frames.at(-1)?.data.waiting),
      (waiting) => waiting === before + 1,
    );
    approver.send('message', { text: 'hello' });
    expect((await approver.untilType('error')).data.error.code).toBe('invalid_request');
    const made = approvals.length;
    expect(made).toBeGreaterThan(1);
    await post(`/api/sessions/${two.id}/cancel`, {});
    await eventually(
      () => Promise.resolve(approver.frames.at(-1)?.data.waiting),
      (waiting) => waiting === before,
    );
  });

  test('see only the calls that their token may decide', async () => {
    const { id: project } = await cloud.ask<{ id: string }>('/api/projects', {
      method: 'POST',
      body: JSON.stringify({ name: 'of its own' }),
    });
    const tokenOf = async (scope: string): Promise<string> =>
      (
        await cloud.ask<{ token: string }>('/api/tokens', {
          method: 'POST',
          body: JSON.stringify({ name: 'reader', scope }),
        })
      ).token;
    const [own, reading] = [await tokenOf(`project:${project}`), await tokenOf(`project:${project}:ro`)];
    const [inside, outside] = [await open({ project }), await open()];
    for (const client of [inside, outside]) {
      client.send('message', { text: '$ echo one' });
      await client.untilType('tool:approval_required');
    }
    const seenBy = async (token: string, query = '') => {
      const headers = { authorization: `Bearer ${token}` };
      const { approvals } = await cloud.ask<{ approvals: readonly Json[] }>(`/api/approvals${query}`, {
        headers,
      });
      return approvals.map(({ sessionId }) => sessionId);
    };
    expect(await seenBy(own)).toEqual([inside.id]);
    expect(await seenBy(reading)).toEqual([]);
    expect(await seenBy(cloud.token, `?project=${project}`)).toEqual([inside.id]);
    expect(await seenBy(cloud.token)).toEqual(expect.arrayContaining([inside.id, outside.id]));
    for (const { id } of [inside, outside]) await post(`/api/sessions/${id}/cancel`, {});
  });

  test('a session without approvals is in the audit log, with the caller that created it', async () => {
    const { id } = await makeSession(cloud, { approvals: 'auto' });
    expect(await auditOf(id)).toMatchObject([{ action: 'session.approvals_auto', actorName: 'admin' }]);
  });
});
