/** A call is tried in a fork, asked about by its effect, and what was shown is applied without running again (AP7). */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeSession, sandboxRecord } from './agent.ts';
import { effectDigestOf } from './call-digest.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type Client, connect } from './socket-client.ts';
import { allObjects, spoilPacks } from './stored-objects.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { LLM_PROVIDER: 'demo' } });
});
afterAll(() => cloud.stop());

type Json = Readonly<Record<string, unknown>>;

const open = async (options: object = {}): Promise<Client & { readonly id: string }> => {
  const { id } = await makeSession(cloud, { flavor: 'micro', approvals: 'effect', ...options });
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  onTestFinished(async () => {
    await client.close();
    await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });
  });
  return { ...client, id };
};

const linesOf = (text: string): readonly Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);

const put = (id: string, path: string, body: string) =>
  cloud.request(`/api/sessions/${id}/files/${path}`, { method: 'PUT', body });
const read = async (id: string, path: string): Promise<string | number> => {
  const response = await cloud.request(`/api/sessions/${id}/files/${path}`);
  return response.ok ? response.text() : response.status;
};
const decide = async (id: string, callId: string, body: object) => {
  const response = await cloud.request(`/api/sessions/${id}/approvals/${callId}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { error?: { code: string } } };
};

const execute = (id: string, command: string) =>
  cloud.ask<{ stdout: string }>(`/api/sessions/${id}/exec`, {
    method: 'POST',
    body: JSON.stringify({ command }),
  });

/** A program of the live sandbox, which a trial does not reach. */
const listen = (id: string) =>
  cloud.ask(`/api/sessions/${id}/processes`, {
    method: 'POST',
    body: JSON.stringify({
      command: 'node',
      args: ['-e', "require('net').createServer().listen(3999)"],
    }),
  });

describe('a call that is asked by its effect', () => {
  test('shows what it does, and leaves that alone until it is approved with the digest of it', async () => {
    const client = await open();
    await put(client.id, 'old.txt', 'one\ntwo\nthree\n');
    await put(client.id, 'gone.txt', 'soon\n');
    const command =
      'date +%N > once.txt; sed -i s/two/2/ old.txt; rm gone.txt; chmod 755 old.txt; ln -s /etc/passwd to; echo done; exit 3';
    client.send('message', { text: `$ ${command}` });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effect).toEqual({
      files: [
        expect.objectContaining({
          path: 'gone.txt',
          change: 'removed',
          bytes: 5,
          diff: expect.stringContaining('-soon'),
        }),
        expect.objectContaining({
          path: 'old.txt',
          change: 'modified',
          diff: expect.stringContaining('-two\n+2'),
          mode: '755',
          sha256: createHash('sha256').update('one\n2\nthree\n').digest('hex'),
        }),
        expect.objectContaining({
          path: 'once.txt',
          change: 'created',
          diff: expect.stringMatching(/^@@.*\n\+\d+/),
        }),
        { path: 'to', change: 'created', bytes: 0, type: 'symlink', target: '/etc/passwd' },
      ],
      ...{ exitCode: 3, output: 'done\n', hosts: [], durationMs: expect.any(Number) },
    });
    expect(data.effectDigest).toBe(effectDigestOf(data));
    expect(await cloud.ask(`/api/sessions/${client.id}/approvals/${data.callId}`)).toEqual({
      sessionId: client.id,
      ...data,
    });
    expect(await read(client.id, 'once.txt')).toBe(404);
    expect(await read(client.id, 'gone.txt')).toBe('soon\n');
    const { digest, effectDigest, callId } = data;
    const without = await decide(client.id, callId, { approved: true, digest });
    expect([without.status, without.body.error?.code]).toEqual([409, 'conflict']);
    const other = await decide(client.id, callId, {
      approved: true,
      digest,
      effectDigest: 'a'.repeat(64),
    });
    expect([other.status, other.body.error?.code]).toEqual([409, 'conflict']);
    expect((await decide(client.id, callId, { approved: true, digest, effectDigest })).status).toBe(200);
    await client.untilType('completion');
    const [once] = (data.effect.files as readonly Json[]).filter(({ path }) => path === 'once.txt');
    // The number that was shown: a second run would have made another.
    expect(`${once?.['diff']}`).toContain(`+${String(await read(client.id, 'once.txt')).trim()}`);
    expect(await read(client.id, 'old.txt')).toBe('one\n2\nthree\n');
    expect(await read(client.id, 'gone.txt')).toBe(404);
    const output = client.frames.find(({ type }) => type === 'tool:output');
    expect(JSON.stringify(output?.data)).toContain('done');
  });

  test('is decided by the rules of its project, by what it did in its trial', async () => {
    const rules = [
      { verdict: 'refuse', touches: ['.git'] },
      { verdict: 'approve', within: ['src'], removes: false, wantsHosts: false, succeeds: true },
    ];
    const made = await cloud.ask<{ id: string }>('/api/projects', {
      method: 'POST',
      body: JSON.stringify({ name: 'by rules', effects: { tools: ['execute_command'], rules } }),
    });
    const client = await open({ project: made.id, approvals: 'auto' });
    expect(await cloud.ask(`/api/sessions/${client.id}`)).toMatchObject({ effects: { rules } });
    client.send('message', { text: '$ mkdir -p src; date +%N > src/once.txt' });
    await client.untilType('completion');
    const decided = () => client.frames.filter(({ type }) => type === 'tool:decided').map(({ data }) => data);
    expect(decided()).toMatchObject([{ approved: true, by: { kind: 'policy', id: 'effect rule 2' } }]);
    expect(await read(client.id, 'src/once.txt')).toMatch(/^\d+\n$/);
    client.send('message', { text: '$ mkdir .git; echo x > .git/config' });
    await client.untilType('completion', 1);
    expect(decided()[1]).toMatchObject({ approved: false, by: { kind: 'policy', id: 'effect rule 1' } });
    expect(await read(client.id, '.git/config')).toBe(404);
    const rows = linesOf(await (await cloud.request('/api/audit/export')).text());
    const ruled = rows.filter(({ action, subject }) => action === 'approval.decide' && subject === client.id);
    // AP9: in the chain of the session, with what was shown.
    expect(ruled).toMatchObject([
      { actor: 'effect rule 2', actorKind: 'policy', chain: { index: 1, previous: '0'.repeat(64) } },
      { actor: 'effect rule 1', actorKind: 'policy', chain: { index: 2, previous: ruled[0]?.['hash'] } },
    ]);
    expect(ruled.map(({ detail }) => detail)).toMatchObject([
      { approved: true, effectDigest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { approved: false, effectDigest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(client.frames.some(({ type }) => type === 'tool:approval_required')).toBe(false);
    client.send('message', { text: '$ rm src/once.txt' });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effect).toMatchObject({ files: [{ path: 'src/once.txt', change: 'removed' }] });
    expect((await decide(client.id, data.callId, { approved: false })).status).toBe(200);
    await client.untilType('completion', 2);
    expect(await read(client.id, 'src/once.txt')).toMatch(/^\d+\n$/);
  });

  test('is decided by its rules whether its result is long or not: the file that keeps it is no change of the call', async () => {
    const rules = [{ verdict: 'approve', within: ['src'], removes: false }];
    const made = await cloud.ask<{ id: string }>('/api/projects', {
      method: 'POST',
      body: JSON.stringify({ name: 'long results', effects: { tools: ['execute_command'], rules } }),
    });
    const client = await open({ project: made.id, approvals: 'auto' });
    client.send('message', { text: '$ mkdir -p src; echo x > src/a; seq 20000' });
    await client.untilType('completion');
    const decided = client.frames.filter(({ type }) => type === 'tool:decided').map(({ data }) => data);
    expect(decided).toMatchObject([{ approved: true, by: { kind: 'policy', id: 'effect rule 1' } }]);
    const { stdout } = await execute(
      client.id,
      'tail -n 5000 .sallyport/outputs/trial-*.txt | grep -cx 2....',
    );
    expect([stdout, await read(client.id, 'src/a')]).toEqual(['1\n', 'x\n']);
  });

  test('is tried again where the workspace has moved since, and nothing of it is applied', async () => {
    const client = await open();
    client.send('message', { text: 'write a.txt hello' });
    const { data: first } = await client.untilType('tool:approval_required');
    await put(client.id, 'b.txt', 'meanwhile');
    const { callId, digest, effectDigest } = first;
    const refused = await decide(client.id, callId, { approved: true, digest, effectDigest });
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict']);
    expect(await read(client.id, 'a.txt')).toBe(404);
    const second = (await client.untilType('tool:approval_required', 1)).data;
    expect(second.callId).toBe(callId);
    expect(second.effectDigest).not.toBe(effectDigest);
    const approved = await decide(client.id, callId, {
      approved: true,
      digest,
      effectDigest: second.effectDigest,
    });
    expect(approved.status).toBe(200);
    await client.untilType('completion');
    expect([await read(client.id, 'a.txt'), await read(client.id, 'b.txt')]).toEqual(['hello', 'meanwhile']);
  });

  test('names the hosts that it wanted, and reaches none', async () => {
    const client = await open();
    const command =
      'curl -s http://one.example.org/a; curl -s https://two.example.org:8443/; curl -s http://one.example.org/b; echo tried';
    client.send('message', { text: `$ ${command}` });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effect).toMatchObject({ hosts: ['one.example.org:80', 'two.example.org:8443'] });
    expect(data.effect.output).toMatch(/^(this is a trial of the call: [^\n]*\n?){2}tried\n$/);
    expect(data.effectDigest).toBe(effectDigestOf(data));
  });

  test('names models and tools of the platform among them', async () => {
    const client = await open();
    const command =
      'curl -s http://127.0.0.1:19999/anthropic/v1/messages -d "{}"; sallyport-client tools; curl -s http://one.example.org/a; echo tried';
    client.send('message', { text: `$ ${command}` });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effect).toMatchObject({ hosts: ['models', 'platform', 'one.example.org:80'] });
    expect(data.effect.output).toContain('no model is called, and this is recorded');
  });

  test('shows that files would be deleted, and is thrown away by a rejection, which needs no digest, over the socket too', async () => {
    const client = await open();
    await put(client.id, 'package.json', '{"scripts":{"test":"echo tested > report.txt"}}');
    await put(client.id, 'src/main.js', 'one();\n');
    client.send('message', { text: '$ rm -rf src && npm test' });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effect.files).toContainEqual(
      expect.objectContaining({
        path: 'src/main.js',
        change: 'removed',
        diff: expect.stringContaining('-one();'),
      }),
    );
    client.send('tool:approval', { callId: data.callId, approved: false });
    await client.untilType('completion');
    expect(await read(client.id, 'src/main.js')).toBe('one();\n');
    expect(await read(client.id, 'report.txt')).toBe(404);
    const { sessions } = await cloud.ask<{ sessions: readonly Json[] }>('/api/sessions');
    expect(sessions.filter(({ kind }) => kind === 'execution')).toEqual([]);
  });

  test('follows the calls that were approved before it in the same queue', async () => {
    const client = await open();
    client.send('message', { text: '$ echo one > list.txt\n$ echo two >> list.txt' });
    for (const place of [0, 1]) {
      const { data } = await client.untilType('tool:approval_required', place);
      const { callId, digest, effectDigest } = data;
      client.send('tool:approval', { callId, approved: true, digest, effectDigest });
    }
    await client.untilType('completion');
    expect(await read(client.id, 'list.txt')).toBe('one\ntwo\n');
  });

  test('has no effect where it cannot be tried, and says why', async () => {
    const client = await open();
    client.send('message', { text: '```python\nopen("x.txt", "w").write("x")\n```' });
    const { data } = await client.untilType('tool:approval_required');
    expect(data).toMatchObject({
      name: 'execute_code',
      effectMissing: expect.stringContaining('interpreter'),
    });
    expect(data).not.toHaveProperty('effect');
    client.send('tool:approval', { callId: data.callId, approved: true });
    await client.untilType('completion');
    expect(await read(client.id, 'x.txt')).toBe('x');
  });

  test.each([
    ['it makes a file that nobody can read', 'chmod 000 kept.txt', '0 regular file'],
    ['it leaves a pipe', 'chmod 640 kept.txt; mkfifo -m 600 pipe', '640 regular file\n600 fifo'],
  ])('has no effect where its result cannot be saved whole: %s', async (_, command, listed) => {
    const client = await open();
    await put(client.id, 'kept.txt', 'kept');
    client.send('message', { text: `$ ${command}` });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effectMissing).toMatch(
      /^it could not be tried: it created a file that cannot be saved: (kept.txt|pipe) /,
    );
    expect(data).not.toHaveProperty('effect');
    client.send('tool:approval', { callId: data.callId, approved: true, digest: data.digest });
    await client.untilType('completion');
    const ran = await execute(client.id, 'stat -c "%a %F" *; chmod 600 kept.txt; cat kept.txt');
    expect(ran.stdout).toBe(`${listed}\nkept`);
  });

  test.each([
    ['nobody can read', 'chmod 000 kept.txt'],
    ['is a pipe', 'mkfifo pipe'],
  ])('has no effect where its copy would lack a file of the workspace that %s', async (_, command) => {
    const client = await open();
    await put(client.id, 'kept.txt', 'kept');
    await execute(client.id, command);
    client.send('message', { text: '$ test -e kept.txt || echo missing > state' });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effectMissing).toMatch(
      /^it could not be tried: its copy of the workspace would lack a file that cannot be saved: (kept.txt|pipe) /,
    );
    expect(data).not.toHaveProperty('effect');
  });

  test('has no effect where its copy is not as it was saved', async () => {
    const client = await open();
    await put(client.id, 'kept.txt', 'kept');
    await execute(client.id, 'true');
    const { workspace } = await cloud.ask<{ workspace: string }>(`/api/sessions/${client.id}`);
    await spoilPacks(cloud.home, workspace);
    client.send('message', { text: '$ ls > list.txt' });
    const { data } = await client.untilType('tool:approval_required');
    expect(data.effectMissing).toMatch(
      /^it could not be tried: its copy of the workspace lacks a file that was not restored: kept.txt /,
    );
  });

  test('is not applied where such a file appeared since it was tried', async () => {
    const client = await open();
    await put(client.id, 'kept.txt', 'kept');
    client.send('message', { text: '$ rm -rf kept.txt' });
    const { data: first } = await client.untilType('tool:approval_required');
    await execute(client.id, 'mkfifo pipe');
    const { callId, digest, effectDigest } = first;
    expect((await decide(client.id, callId, { approved: true, digest, effectDigest })).status).toBe(200);
    const second = (await client.untilType('tool:approval_required', 1)).data;
    expect(second).toMatchObject({ callId, effectMissing: expect.stringContaining('would lack') });
    expect(await read(client.id, 'kept.txt')).toBe('kept');
  });

  test.each([
    ['the time', 'if [ $(date +%s%N) -gt 0 ]; then date +%s%N > shown.txt; fi'],
    [
      'the age of the machine',
      'cat /proc/uptime > shown.txt; ls -i --time-style=full-iso -la / >> shown.txt',
    ],
    [
      'the fork',
      '{ hostname; id; pwd -P; ls -dil . / /tmp; env | sort; head -5 /proc/self/mountinfo; } > shown.txt 2>&1; true',
    ],
    [
      'another machine, its container and its mounts',
      '{ cat /proc/sys/kernel/random/boot_id /proc/version /proc/cmdline /proc/self/cgroup /proc/1/comm; sort /proc/mounts; nproc; ls /proc | sort -n | head -20; ls -la /tmp; } > shown.txt 2>&1; true',
    ],
    [
      'a network',
      'if curl -sm 5 http://127.0.0.1:19998; then echo evil > shown.txt; else echo good > shown.txt; fi',
    ],
    [
      'a former run of itself',
      'if [ -e /tmp/ran ]; then echo evil > shown.txt; else touch /tmp/ran; echo good > shown.txt; fi',
    ],
    [
      'a program of the live sandbox',
      'if (: < /dev/tcp/127.0.0.1/3999) 2>/dev/null; then echo evil > shown.txt; else echo good > shown.txt; fi',
    ],
  ])('gains nothing by looking for %s: what was shown is applied', async (_, command) => {
    const client = await open();
    if (command.includes('3999')) await listen(client.id);
    client.send('message', { text: `$ ${command}` });
    const { data } = await client.untilType('tool:approval_required');
    const files = data.effect.files as readonly Json[];
    const [shown] = files.filter(({ path }) => path === 'shown.txt');
    const lines = `${shown?.['diff']}`.split('\n').filter((line) => line.startsWith('+'));
    expect(files.map(({ path }) => path)).toEqual(['shown.txt']);
    const { digest, effectDigest, callId } = data;
    expect((await decide(client.id, callId, { approved: true, digest, effectDigest })).status).toBe(200);
    await client.untilType('completion');
    expect(await read(client.id, 'shown.txt')).toBe(`${lines.map((line) => line.slice(1)).join('\n')}\n`);
  });

  test('leaves nothing of its trial in the bucket once it is decided', async () => {
    const client = await open();
    await put(client.id, 'own.txt', 'own');
    const { workspace: own } = await cloud.ask<{ workspace: string }>(`/api/sessions/${client.id}`);
    const others = async () => {
      const keys = (await allObjects(cloud.home)).map((key) => key.split('/')[1]);
      return [...new Set(keys)].filter((workspace) => workspace !== own);
    };
    const before = new Set(await others());
    const fresh = async () => (await others()).filter((workspace) => !before.has(workspace));
    client.send('message', { text: '$ echo more > made.txt' });
    const { data } = await client.untilType('tool:approval_required');
    const ofTrial = await fresh();
    expect(ofTrial).toHaveLength(1);
    // A sweep that finds its sandbox stopping comes again two minutes later.
    await eventually(
      () => sandboxRecord(cloud, ofTrial[0] ?? ''),
      ({ state }) => state === 'stopped',
    );
    client.send('tool:approval', { callId: data.callId, approved: false });
    await client.untilType('completion');
    const swept = async () => {
      await cloud.janitor({ sweep: 'due' });
      // A session of an earlier test may save its files meanwhile.
      return (await others()).filter((workspace) => ofTrial.includes(workspace));
    };
    expect(await eventually(swept, (left) => left.length === 0)).toEqual([]);
  });
});
