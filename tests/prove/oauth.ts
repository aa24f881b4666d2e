/**
 * `npm run prove:oauth`: the clients that people use connect to `/mcp` without a token: that of the MCP SDK, the MCP Inspector and
 * `mcp-remote`, each as it is published, while a script plays the person at the consent page.
 *
 * Downloads two packages into a temporary folder. The exit code is 1 when a client does not connect.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { connect } from '../e2e/mcp-clients.ts';
import { connectByOAuth, consent } from '../e2e/oauth-client.ts';
import { type Server, startServer } from '../e2e/server.ts';
import { type Finding, printFindings } from './proof.ts';

const packages = ['@modelcontextprotocol/inspector@2.12.0', 'mcp-remote@0.15.1'];
const minutesMax = 5;

type Ground = {
  readonly server: Server;
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
};

/** Both clients print the address that a person opens; the script opens it, consents, and goes where it leads. */
const playPerson = (server: Server, printed: Readable): Promise<unknown> => {
  const found = Promise.withResolvers<string>();
  let text = '';
  // Read to its end, since a client that cannot print stops.
  printed.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const page = /(https?:\/\/\S+\/oauth\/authorize\?\S+)\s/.exec(text)?.[1];
    if (page !== undefined) found.resolve(page);
  });
  printed.once('end', () => found.reject(new Error(`no address of a consent page: ${text}`)));
  return found.promise.then(async (page) => fetch(await consent(server, page)));
};

const finding = (what: string, names: readonly string[]): Finding => ({
  ...{ what, counted: `${names.length} tools`, wanted: 'execute_code is one' },
  isMet: names.includes('execute_code'),
});

const sdk = async ({ server }: Ground): Promise<Finding> => {
  const { tokens } = await connectByOAuth(server);
  const client = await connect({ url: server.url, token: tokens?.access_token ?? '' });
  const names = (await client.tools()).map(({ name }) => name);
  await client.close();
  return finding('the client of the MCP SDK', names);
};

const inspector = async ({ server, folder, variables }: Ground): Promise<Finding> => {
  const program = join(folder, 'node_modules', '.bin', 'mcp-inspector');
  const args = ['--cli', `${server.url}/mcp`, '--transport', 'http', '--method', 'tools/list'];
  // Without a terminal it begins no sign-in, unless it may open a browser; there is none here.
  const settings = { MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'memory' };
  const child = spawn(program, [...args, '--format', 'json'], {
    env: { ...variables, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const ended = once(child, 'exit');
  await playPerson(server, child.stderr);
  await ended;
  const names = Array.from(printed.matchAll(/"name":\s*"(\w+)"/g), ([, name = '']) => name);
  return finding('the MCP Inspector, by its command line', names);
};

const remote = async ({ server, folder, variables }: Ground): Promise<Finding> => {
  const transport = new StdioClientTransport({
    command: join(folder, 'node_modules', '.bin', 'mcp-remote'),
    args: [`${server.url}/mcp`, '--transport', 'http-only'],
    env: variables,
    stderr: 'pipe',
  });
  const client = new Client({ name: 'prove', version: '1.0.0' });
  const person = playPerson(server, transport.stderr as Readable);
  await client.connect(transport, { timeout: minutesMax * 60_000 });
  await person;
  const { tools } = await client.listTools();
  await client.close();
  return finding(
    'mcp-remote, under a client that speaks stdio',
    tools.map(({ name }) => name),
  );
};

const run = async (): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-prove-oauth-'));
  const home = join(folder, 'home');
  await mkdir(home);
  // No browser opens: the script is the person.
  const path = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const variables = { PATH: path, HOME: home, MCP_REMOTE_CONFIG_DIR: join(home, 'mcp-remote') };
  await promisify(execFile)('npm', ['install', '--ignore-scripts', '--prefix', folder, ...packages]);
  const server = await startServer();
  try {
    const ground = { server, folder, variables };
    const findings = [await sdk(ground), await inspector(ground), await remote(ground)];
    printFindings('oauth: clients that connect without a token', findings);
    return findings.every(({ isMet }) => isMet);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

setTimeout(() => {
  process.stderr.write(`not done in ${minutesMax} minutes\n`);
  process.exit(1);
}, minutesMax * 60_000).unref();

process.exit((await run()) ? 0 : 1);
