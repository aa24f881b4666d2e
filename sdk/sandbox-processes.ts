/** Processes of a sandbox, which outlive the request that started them. */

import type { ApiClient } from './api-client.ts';
import { connectionLost } from './errors.ts';
import { bytesOf, type FileContent } from './file-content.ts';
import { followOutput, type OutputEvent, type OutputOptions, type ProcessExit } from './process-output.ts';
import { type BodyOf, pathOf, type Signalled } from './route.ts';
import { api, type ProcessInfo, type TerminalSize } from './routes.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

export type StartOptions = Omit<BodyOf<typeof api.startProcess>, 'command'> & Signalled;

export class SandboxProcess {
  readonly sessionId: string;
  readonly processId: string;
  readonly #client: ApiClient;

  constructor(client: ApiClient, address: { readonly sessionId: string; readonly processId: string }) {
    this.#client = client;
    this.sessionId = address.sessionId;
    this.processId = address.processId;
  }

  /** Follows its output from an offset to its end; the last event is `exit`. */
  output(options: OutputOptions = {}): AsyncGenerator<OutputEvent, void> {
    return followOutput(this.#client, this.sessionId, { ...options, processId: this.processId });
  }

  /** Types into it and shows its output over the WebSocket, for a person who looks at it. */
  attach(options: TerminalOptions): Terminal {
    return openTerminal(this.#client, { sessionId: this.sessionId, processId: this.processId }, options);
  }

  /** Waits for its end. */
  async wait(options: Signalled = {}): Promise<ProcessExit> {
    for await (const event of this.output(options)) {
      if (event.type !== 'exit') continue;
      const { type: _, text: __, ...exit } = event;
      return exit;
    }
    throw connectionLost();
  }

  info({ signal }: Signalled = {}): Promise<ProcessInfo> {
    return this.#client.request(api.showProcess, { params: this.#params }, { signal });
  }

  /** Writes into its stdin; `isLast` closes that. Nothing is sent twice. */
  async write(
    input: FileContent,
    { isLast = false, signal }: Signalled & { readonly isLast?: boolean } = {},
  ): Promise<void> {
    const path = pathOf('/api/sessions/{id}/processes/{processId}/stdin', this.#params);
    const body = await bytesOf(input);
    await this.#client.send(`${path}${isLast ? '?eof=1' : ''}`, { method: 'POST', body, signal });
  }

  closeInput(options: Signalled = {}): Promise<void> {
    return this.write('', { ...options, isLast: true });
  }

  async signal(signal: BodyOf<typeof api.signalProcess>['signal'], options: Signalled = {}): Promise<void> {
    await this.#client.request(
      api.signalProcess,
      { params: this.#params, body: { signal } },
      { signal: options.signal },
    );
  }

  async resize({ cols, rows }: TerminalSize, { signal }: Signalled = {}): Promise<void> {
    const parts = { params: this.#params, body: { cols, rows } };
    await this.#client.request(api.resizeProcess, parts, { signal, repeat: 'lost' });
  }

  /** Ends it and all that it started. */
  async kill({ signal }: Signalled = {}): Promise<void> {
    await this.#client.request(api.endProcess, { params: this.#params }, { signal });
  }

  get #params() {
    return { id: this.sessionId, processId: this.processId };
  }
}

export class SandboxProcesses {
  readonly #client: ApiClient;
  readonly #sessionId: string;

  constructor(client: ApiClient, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  async start(command: string, { signal, ...options }: StartOptions = {}): Promise<SandboxProcess> {
    const { processId } = await this.#client.request(
      api.startProcess,
      { params: { id: this.#sessionId }, body: { command, ...options } },
      { signal, repeat: 'refused' },
    );
    return this.get(processId);
  }

  async list({ signal }: Signalled = {}): Promise<readonly ProcessInfo[]> {
    const params = { id: this.#sessionId };
    return (await this.#client.request(api.listProcesses, { params }, { signal })).processes;
  }

  get(processId: string): SandboxProcess {
    return new SandboxProcess(this.#client, { sessionId: this.#sessionId, processId });
  }
}
