/** Attacks from inside a sandbox, through a real RunTask and the real tools; each guarantee of docs/spec/sandbox.md. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EcsEndpoint } from '../../local/ecs/start.ts';
import { shellWord } from '../shell-word.ts';
import { type AttackedSandbox, awaitAddress, startHost, startSandbox } from './sandbox-fixture.ts';

let ecs: EcsEndpoint;
let call: AttackedSandbox['call'];
let run: AttackedSandbox['run'];

beforeAll(async () => {
  const events = awaitAddress();
  ecs = await startHost({
    home: await mkdtemp(join(tmpdir(), 'sallyport-escape-')),
    onTaskEvent: events.take,
  });
  ({ call, run } = await startSandbox(ecs, events));
});
afterAll(() => ecs.stop());

test('W1: no file of this program can be read', async () => {
  const [program, root] = [import.meta.filename, `/proc/1/root${import.meta.filename}`].map(shellWord);
  const text = await run(`cat /etc/shadow ${program} ${root} 2>&1; ls ${shellWord(process.cwd())} 2>&1`);
  expect(text).not.toMatch(/root:[*$!]|package\.json|Attacks from inside/);
  expect(text.match(/No such file|Permission denied/g)?.length).toBe(4);
});

test('W2: the server can be neither signalled nor traced, and nothing of its own can be read', async () => {
  const text = await run(
    'for pid in $(pgrep -f server.mjs) 1; do kill -9 $pid; cat /proc/$pid/environ /proc/$pid/maps; ls /proc/$pid/fd; done 2>&1',
  );
  expect(text).not.toMatch(/SANDBOX_|node/);
  expect(await run('echo still here')).toContain('still here');
});

test('W3: there is no network, not even a name or the loopback of the host', async () => {
  const probe = `
import socket
def attempt(name, work):
    try: work(); print(name, 'REACHED')
    except Exception as e: print(name, 'refused')
attempt('loopback', lambda: socket.create_connection(('${new URL(ecs.url).hostname}', ${new URL(ecs.url).port}), 2))
attempt('name', lambda: socket.getaddrinfo('example.com', 80))
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53)))
attempt('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('socket of the server', lambda: socket.socket(socket.AF_UNIX).connect('/run/sallyport/sandbox.sock'))
`;
  const outcome = await call('execute_code', { code: probe, language: 'python' });
  const text = outcome.status === 'finished' ? JSON.stringify(outcome.content) : JSON.stringify(outcome);
  expect(text.match(/refused/g)).toHaveLength(6);
  expect(text).not.toContain('REACHED');
});

test('W4: no variable of the platform’s environment reaches user code', async () => {
  const text = await run('env; cat /proc/self/environ /proc/1/environ /proc/[0-9]*/environ | tr "\\0" "\\n"');
  expect(text).not.toMatch(/SANDBOX_|BEARER|AWS_|TOKEN|sallyport-run/);
});

test('W5: no file or folder but those of /workspace, /tmp and /dev/shm can be written', async () => {
  const text = await run(
    'for d in $(find / -xdev -type d -not -path "/proc/*" 2>/dev/null | head -3000) /dev/shm /proc/sys/kernel; do (: > $d/.probe) 2>/dev/null && echo "$d"; done; for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/shmmax /proc/sys/fs/mqueue/msg_max; do (echo 1 > $f) 2>/dev/null && echo "$f"; done; true',
  );
  const writable = text.split('\n').filter((line) => line.startsWith('/'));
  expect(writable.length).toBeGreaterThanOrEqual(2);
  expect(writable.filter((path) => !/^\/(workspace|tmp|dev\/shm)/.test(path))).toEqual([]);
});

test('W6: a call over its memory limit is killed and reports it, and the next one works', async () => {
  const outcome = await call('execute_command', { command: 'python3 -c "x = bytearray(600 << 20)"' });
  expect(outcome).toMatchObject({ status: 'failed', code: 'resource_limit_exceeded' });
  expect(await run('echo alive')).toContain('alive');
});

test('W7: no privilege can be gained', async () => {
  const text = await run(
    'unshare -U id 2>&1; unshare -r id 2>&1; su -c id 2>&1 </dev/null; mount -t tmpfs x /tmp 2>&1; grep -E "NoNewPrivs|CapEff|CapBnd|Seccomp:" /proc/self/status',
  );
  expect(text).not.toContain('uid=0');
  expect(text).toMatch(/CapEff:\s+0+\n[\s\S]*CapBnd:\s+0+\n[\s\S]*NoNewPrivs:\s+1\n[\s\S]*Seccomp:\s+2/);
});

test('W8: a path stays in the workspace, also through a symlink', async () => {
  await run('ln -s /etc/passwd out; ln -s / root');
  for (const path of ['../etc/passwd', '/etc/passwd', 'out', 'root/etc/passwd', '/workspace/../etc/passwd'])
    expect(await call('read_file', { path })).toMatchObject({
      status: 'failed',
      code: 'path_outside_workspace',
    });
  expect(await call('write_file', { path: 'root/tmp/x', content: 'x' })).toMatchObject({ status: 'failed' });
});

/** An MCP server over stdio in plain Node. */
const mcpServer = `
const fs = require('node:fs'), net = require('node:net');
let count = 0;
const held = [];
const attempt = (action) => { try { return String(action()); } catch (error) { return error.code ?? error.message; } };
const dial = () => new Promise((resolve) => net.connect(80, '1.1.1.1').on('error', ({ code }) => resolve(code)).on('connect', () => resolve('connected')));
const tools = {
  count: () => String((count += 1)),
  look: async () => [attempt(() => fs.readdirSync('/root').length), attempt(() => fs.writeFileSync('/opt/sallyport/x', '')), await dial(), process.getuid(), process.env.TOKEN].join(' '),
  eat: async () => { for (;;) { held.push(Buffer.alloc(8e6, 1)); await new Promise((resolve) => setTimeout(resolve, 5)); } },
  fork: async () => { const { spawn } = require('node:child_process'); for (;;) { spawn('sleep', ['300']).on('error', () => {}); await new Promise((resolve) => setTimeout(resolve, 1)); } },
};
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } } });
  if (method === 'ping') say({ id, result: {} });
  if (method === 'tools/list') say({ id, result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: await tools[params.name]() }] } });
});`;

test('W13: an MCP server runs as the user, behind the same walls, and is killed at the same limits', async () => {
  await call('write_file', { path: 'server.cjs', content: mcpServer });
  // Another configuration is another process: a failed try has left one that counts on.
  const env = { TOKEN: 'walled-token', TRY: crypto.randomUUID() };
  const server = { name: 'walled', command: 'node', args: ['server.cjs'], env };
  const ask = async (tool: string) => {
    const outcome = await call('mcp_call', { server, tool, timeout: 20 });
    if (outcome.status !== 'finished') return `${outcome.status} ${outcome.message}`;
    return outcome.content.map((block) => String(block['text'])).join('');
  };
  expect(await call('mcp_list', { server })).toMatchObject({
    structured: { tools: ['count', 'look', 'eat', 'fork'].map((name) => ({ name })) },
  });
  expect([await ask('count'), await ask('count')]).toEqual(['1', '2']);
  expect(await ask('look')).toMatch(
    /^(?:ENOENT|EACCES) EROFS (?:ENETUNREACH|EPERM|EACCES) 10001 walled-token$/,
  );
  expect(await run('env')).not.toContain('walled-token');
  const memory = await call('mcp_call', { server, tool: 'eat', timeout: 60 });
  expect(memory).toMatchObject({
    status: 'failed',
    code: 'resource_limit_exceeded',
    message: expect.stringMatching(/^MCP server walled: out of memory: the limit is 512 MB/),
  });
  expect(await ask('count')).toBe('1');
  expect(await call('mcp_call', { server, tool: 'fork', timeout: 60 })).toMatchObject({
    code: 'resource_limit_exceeded',
    // A process of a newer Debian needs more memory, whose limit then comes first.
    message: expect.stringMatching(/process limit reached|out of memory/),
  });
  expect(await run('echo alive')).toBe('alive\n');
  expect(await ask('count')).toBe('1');
});

test('W9: a killed runner is replaced, and the outcome of running calls is unknown', async () => {
  const outcome = await call('execute_command', { command: 'kill -9 $PPID; pkill -9 node; sleep 5' });
  expect(outcome.status).not.toBe('finished');
  await expect.poll(() => run('echo back'), { timeout: 50_000 }).toContain('back');
});
