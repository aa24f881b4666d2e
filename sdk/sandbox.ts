/** A sandbox: the session in which commands and code run, with its files, processes and snapshots. */
/// <reference lib="esnext.disposable" preserve="true" />

import type { ApiClient } from './api-client.ts';
import { SallyportError } from './errors.ts';
import type { BodyOf, Signalled } from './route.ts';
import { api, type CodeResult, type ExecResult, type Session, type Snapshot } from './routes.ts';
import { type CodeOptions, type ExecOptions, runCode, runCommand } from './run-command.ts';
import { type LinkOptions, SandboxFiles } from './sandbox-files.ts';
import { SandboxProcesses } from './sandbox-processes.ts';

export type SandboxChange = BodyOf<typeof api.changeSession>;

export class Sandbox {
  readonly id: string;
  readonly files: SandboxFiles;
  readonly processes: SandboxProcesses;
  /** As it was when it was created or found. */
  readonly session: Session | undefined;
  readonly #client: ApiClient;

  /** No request is made: the session may be any of which the id is known. */
  constructor(client: ApiClient, id: string, session?: Session) {
    this.#client = client;
    this.id = id;
    this.session = session;
    this.files = new SandboxFiles(client, id);
    this.processes = new SandboxProcesses(client, id);
  }

  /** Runs a command to its end: a line for bash, or a program with `args`. A failed one has another exit code than 0. */
  exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    return runCommand(this.#client, this.id, { ...options, command });
  }

  /** Runs code in an interpreter that keeps its variables. */
  code(code: string, options: CodeOptions = {}): Promise<CodeResult> {
    return runCode(this.#client, this.id, { ...options, code });
  }

  /** Ends an interpreter; its variables are lost. */
  async endContext(name: string, { signal }: Signalled = {}): Promise<void> {
    await this.#client.request(api.endContext, { params: { id: this.id, name } }, { signal });
  }

  /** The address of a web server inside; requests to it need the token, or a ticket. */
  url(port: number, path = '/'): string {
    const { url } = this.#client;
    return new URL(`${url}/api/sessions/${this.id}/ports/${port}${path.startsWith('/') ? '' : '/'}${path}`)
      .href;
  }

  /** Waits until a server inside listens on a port: an `execution_timeout` if none does within `timeoutSeconds` (30). */
  async waitForPort(
    port: number,
    { timeoutSeconds = 30, signal }: Signalled & { readonly timeoutSeconds?: number } = {},
  ): Promise<void> {
    const line = `until (: </dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.1; done`;
    const { exitCode } = await this.exec(line, { timeoutSeconds, signal });
    if (exitCode === 0) return;
    const isLate = exitCode === 124;
    throw new SallyportError(0, {
      code: isLate ? 'execution_timeout' : 'sandbox_unavailable',
      message: isLate
        ? `nothing listens on port ${port} after ${timeoutSeconds} s`
        : `the wait for port ${port} ended with exit code ${exitCode}`,
      suggestions: ['Read the output of the server.'],
    });
  }

  /** Makes an address that needs no token: it reads one file until it expires, or writes it once. */
  async link(path: string, options: LinkOptions = {}): Promise<string> {
    const { url } = await this.files.link(path, options);
    return new URL(url, this.#client.url).href;
  }

  /** Keeps the files as they are now. `restore` and `sandboxes.create({ from })` take the snapshot. */
  snapshot({ name, signal }: Signalled & { readonly name?: string } = {}): Promise<Snapshot> {
    return this.#client.request(api.makeSnapshot, { params: { id: this.id }, body: { name } }, { signal });
  }

  async snapshots({ signal }: Signalled = {}): Promise<readonly Snapshot[]> {
    const params = { id: this.id };
    return (await this.#client.request(api.listSnapshots, { params }, { signal })).snapshots;
  }

  async deleteSnapshot(snapshot: Snapshot | string, { signal }: Signalled = {}): Promise<void> {
    const params = { id: this.id, snapshotId: idOf(snapshot) };
    await this.#client.request(api.deleteSnapshot, { params }, { signal });
  }

  /** Replaces the files with those of the snapshot, and ends all processes of the sandbox. */
  async restore(snapshot: Snapshot | string, { signal }: Signalled = {}): Promise<void> {
    const parts = { params: { id: this.id }, body: { snapshot: idOf(snapshot) } };
    await this.#client.request(api.restoreSnapshot, parts, { signal, repeat: 'lost' });
  }

  info({ signal }: Signalled = {}): Promise<Session> {
    return this.#client.request(api.showSession, { params: { id: this.id } }, { signal });
  }

  update(change: SandboxChange, { signal }: Signalled = {}): Promise<Session> {
    const parts = { params: { id: this.id }, body: change };
    return this.#client.request(api.changeSession, parts, { signal });
  }

  /** Saves the files and stops the sandbox with its processes. The next call starts it again. */
  pause({ signal }: Signalled = {}): Promise<Session> {
    return this.#client.request(api.pauseSession, { params: { id: this.id } }, { signal, repeat: 'lost' });
  }

  /** Ends the session and its sandbox. Files that no other session uses are deleted. */
  async stop({ signal }: Signalled = {}): Promise<void> {
    await this.#client.request(api.endSession, { params: { id: this.id } }, { signal });
  }

  /** Of `await using`: ends it with its block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

const idOf = (snapshot: Snapshot | string): string => (typeof snapshot === 'string' ? snapshot : snapshot.id);
