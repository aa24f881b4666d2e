/** Floors of a sandbox: bubblewrap with an empty Node, and the sandbox's server behind the same walls, asked directly. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { chooseSandboxPort } from '../../../local/ecs/address-proxy.ts';
import { writePrograms } from '../../../local/ecs/bubblewrap.ts';
import { startSandbox } from '../../../local/ecs/bubblewrap-host.ts';
import { claimIdentities } from '../../../local/ecs/sandbox-identity.ts';

const readyMsMax = 60_000;

/** A program of bubblewrap alone: the system's files, a folder, no network, Node that does nothing. */
export const runBareNode = async (): Promise<void> => {
  const child = spawn(
    'bwrap',
    [
      ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
      ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
      ...['--symlink', 'usr/lib64', '/lib64', '--ro-bind', process.execPath, '/node'],
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--die-with-parent', '--cap-drop', 'ALL'],
      ...['--', '/node', '-e', '0'],
    ],
    { stdio: 'ignore' },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`bare bubblewrap ended with ${code}`);
};

export type BareServer = {
  readonly call: (name: string, args: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** As the embedded cloud starts one, and without the platform. */
export const startBareServer = async (): Promise<BareServer> => {
  await using starting = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'));
  await chmod(folder, 0o711);
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await writePrograms(programs);
  const identities = claimIdentities();
  starting.defer(async () => identities.close());
  const bearer = randomBytes(32).toString('hex');
  const port = await chooseSandboxPort();
  const sandbox = await startSandbox(
    {
      ...{ name: 'bench', folder, programs, hierarchy: undefined, sharedVolume: undefined, identities, port },
      log: () => undefined,
    },
    {
      ...{ id: 'bare', template: 'python', cpus: 1, memoryMb: 1024, unreachableMs: 0 },
      variables: { SANDBOX_BEARER_SHA256: createHash('sha256').update(bearer).digest('hex') },
    },
  );
  starting.defer(async () => {
    sandbox.kill();
    await sandbox.removed;
  });
  const url = `http://${sandbox.address}:${port}`;
  const headers = { authorization: `Bearer ${bearer}` };
  await answered(`${url}/health`, headers);
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  starting.defer(() => client.close());
  const running = starting.move();
  return {
    call: async (name, args) => {
      const { isError, content } = await client.callTool({ name, arguments: args });
      if (isError) throw new Error(JSON.stringify(content));
    },
    close: () => running.disposeAsync(),
  };
};

const answered = async (url: string, headers: Readonly<Record<string, string>>): Promise<void> => {
  const until = performance.now() + readyMsMax;
  for (;;) {
    const status = await fetch(url, { headers }).then(
      (response) => response.status,
      () => undefined,
    );
    if (status === 200) return;
    if (performance.now() > until) throw new Error('the sandbox does not answer');
    await delay(10);
  }
};
