/** The pages by task, executed: each block runs as it stands, and prints what the page says. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AnthropicServer, openAnthropicServer } from './anthropic-server.ts';
import { type OutsideHost, openHttpHost } from './egress-hosts.ts';
import { makeOutside, serveOutside } from './egress-packages.ts';
import { eventually } from './embedded-cloud.ts';
import { type Server, startServer } from './server.ts';
import { outputPattern, readTranscripts, runTranscripts } from './transcripts.ts';
import { openReceiver, type Receiver } from './webhook-receiver.ts';

let server: Server;
let claude: AnthropicServer;
let host: OutsideHost;
let push: Receiver;
let folder: string;
let hookPort: number;
const seen: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-outside-'));
  await makeOutside(folder);
  [claude, push] = await Promise.all([openAnthropicServer(), openReceiver()]);
  // A port that is free now: the program of the page listens there later.
  const taken = await openHttpHost(() => undefined);
  taken.close();
  hookPort = taken.port;
  host = await openHttpHost(serveOutside(folder, { origin: () => `http://localhost:${host.port}`, seen }));
  server = await startServer({
    variables: {
      POOL_SIZE: '',
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_BASE_URL: claude.url,
      EGRESS_ALLOW: `localhost:${host.port},files.pythonhosted.org`,
      EGRESS_ALLOWED_PRIVATE_HOSTS: `localhost:${host.port}`,
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${hookPort}`,
    },
  });
});
afterAll(async () => {
  await server.stop();
  claude.close();
  host.close();
  await Promise.all([push.down(), rm(folder, { recursive: true })]);
});

type Options = Parameters<typeof runTranscripts>[2];

/** A page that is run again shows no call that waits, token or webhook of a try that failed. */
const removeMade = async (): Promise<void> => {
  for (const kind of ['sessions', 'tokens', 'webhooks']) {
    const path = `/api/${kind}`;
    const response = await server.request(path);
    const listed = (await response.json()) as Readonly<Record<string, readonly { readonly id: string }[]>>;
    for (const { id } of listed[kind] ?? []) await server.request(`${path}/${id}`, { method: 'DELETE' });
  }
};

const expectAsShown = async (page: string, blocks: number, options?: Options): Promise<void> => {
  onTestFinished(removeMade);
  const transcripts = await readTranscripts(page);
  expect(transcripts).toHaveLength(blocks);
  const outputs = await runTranscripts(transcripts, server, options);
  for (const [index, { printed }] of transcripts.entries())
    expect(outputs[index]).toMatch(outputPattern(printed));
};

/** A new session of the demo provider, with a call that waits. */
const askForCall = async (text: string): Promise<{ readonly id: string; readonly callId: string }> => {
  const send = async (path: string, body?: object) => {
    const post = { method: 'POST', body: JSON.stringify(body) };
    return (await server.request(`/api/sessions${path}`, body && post)).json();
  };
  const { id } = (await send('', { provider: 'demo' })) as { id: string };
  await send(`/${id}/messages`, { text });
  const shown = await eventually(
    async () => (await send(`/${id}`)) as { readonly pendingApprovals: readonly { callId: string }[] },
    ({ pendingApprovals }) => pendingApprovals.length > 0,
  );
  return { id, callId: shown.pendingApprovals[0]?.callId ?? '' };
};

test('the first agent mends the bug, with two approvals', async () => {
  const mended = 'def mean(values):\n    return sum(values) / len(values)\n';
  claude.script.length = 0;
  claude.script.push(
    [{ id: 'call_1', name: 'read_file', input: { path: 'stats.py' } }],
    [{ id: 'call_2', name: 'write_file', input: { path: 'stats.py', content: mended } }],
    [{ id: 'call_3', name: 'execute_command', input: { command: 'python3 check.py' } }],
    { says: '`mean` divided by `len(values) - 1`. It divides by `len(values)` now, and check.py prints ok.' },
  );
  await expectAsShown('docs/first-agent.md', 6);
});

test('a sandbox gets packages', async () => {
  const index = `--index-url http://localhost:${host.port}/simple/ --trusted-host localhost`;
  const install = 'env/bin/pip install -q six';
  await expectAsShown('docs/packages.md', 4, {
    words: [
      [install, `no_proxy= NO_PROXY= env/bin/pip install -q --disable-pip-version-check ${index} outside`],
      ['import six; print(six.__version__)', 'import outside; print(outside.word / 42)'],
      ['pypi.org', `localhost:${host.port}`],
    ],
  });
  expect(seen).toContain('/simple/outside/');
});

test('the command line client runs programs, chats and lists the calls that wait', async () => {
  const { id, callId } = await askForCall('$ make all');
  // The page shows the demo provider, which speaks as this script does.
  claude.script.length = 0;
  claude.script.push([{ id: 'call_1', name: 'execute_command', input: { command: 'uname -s' } }]);
  claude.script.push({ says: 'execute_command `$ uname -s` gave `Linux`.' });
  await expectAsShown('docs/cli.md', 4, {
    words: [
      ['0ddf7f30-608a-4a19-8380-6d095004d752', id],
      ['call_1795355199410_0', callId],
    ],
  });
});

test('a colleague gets a token, and loses it', async () => {
  await expectAsShown('docs/colleagues.md', 3);
});

test('a schedule is made, run and deleted', async () => {
  claude.script.length = 0;
  claude.script.push({ says: 'All tests pass.' });
  await expectAsShown('docs/schedules.md', 3);
});

test('a webhook tells a phone', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/approve-from-a-phone.md'), 'utf8');
  const [, program = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  const earlier = push.delivered.length;
  await expectAsShown('docs/approve-from-a-phone.md', 3, {
    words: [
      ['127.0.0.1:8080', `127.0.0.1:${hookPort}`],
      ['https://ntfy.sh/a-topic-that-cannot-be-guessed', push.url],
    ],
    programs: { 'notify.mjs': program.replace('8080', String(hookPort)) },
  });
  const delivered = push.delivered.slice(earlier);
  expect(delivered.map(({ body, headers }) => [body, headers['title']])).toEqual([
    ['A test of this webhook', 'test needs you'],
  ]);
});
