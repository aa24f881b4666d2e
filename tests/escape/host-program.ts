/** The sandbox host as a process of its own, started by a shell of the test's choice, with one sandbox in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type AttackedSandbox, awaitAddress, type SigningEndpoint, startSandbox } from './sandbox-fixture.ts';

export type HostProgram = {
  readonly process: ChildProcess;
  /** Its data folder. */
  readonly home: string;
  readonly sandbox: AttackedSandbox;
  readonly stop: () => Promise<void>;
};

const program = join(import.meta.dirname, 'fixtures', 'ecs-program.ts');

/** `line` is of bash: `"$@"` is the host's command and `$3` its data folder. */
export const startHostProgram = async (line = 'exec "$@"'): Promise<HostProgram> => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-host-'));
  const host = spawn('bash', ['-c', line, 'shell', process.execPath, program, home], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const events = awaitAddress();
  const endpoint = Promise.withResolvers<SigningEndpoint>();
  createInterface({ input: host.stdout }).on('line', (text) => {
    const said = JSON.parse(text) as { readonly endpoint?: SigningEndpoint; readonly detail?: object };
    if (said.endpoint !== undefined) endpoint.resolve(said.endpoint);
    if (said.detail !== undefined) events.take(said.detail);
  });
  host.once('exit', (code) => endpoint.reject(new Error(`the host ended with ${code}`)));
  const sandbox = await startSandbox(await endpoint.promise, events);
  const stop = async (): Promise<void> => {
    host.stdin.end();
    await once(host, 'exit');
  };
  return { process: host, home, sandbox, stop };
};
