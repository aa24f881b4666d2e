/** The sandboxes of a deployment: created, found, listed. */
import type { ApiClient } from './api-client.ts';
import type { BodyOf, Signalled } from './route.ts';
import { api, type Snapshot } from './routes.ts';
import { Sandbox } from './sandbox.ts';
import { listSessions, type SessionSearch } from './session-listing.ts';

type SessionBody = BodyOf<typeof api.makeSession>;

export type SandboxOptions = Omit<SessionBody, 'kind' | 'from'> & {
  /** The files with which it starts: those of a snapshot, or of a session as they are now. */
  readonly from?: Snapshot | Sandbox | { readonly snapshot: string } | { readonly session: string };
};

export class Sandboxes {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  async create({ from, ...options }: SandboxOptions = {}, { signal }: Signalled = {}): Promise<Sandbox> {
    const body = {
      ...options,
      kind: 'execution' as const,
      ...(from === undefined ? {} : { from: sourceOf(from) }),
    };
    const timeoutMs = createMsMax + (options.waitSeconds ?? 0) * 1000;
    const session = await this.#client.request(api.makeSession, { body }, { signal, timeoutMs });
    return new Sandbox(this.#client, session.id, session);
  }

  /** Finds a sandbox by the id of its session; `session_not_found` if there is none. */
  async get(id: string, options: Signalled = {}): Promise<Sandbox> {
    return new Sandbox(this.#client, id, await new Sandbox(this.#client, id).info(options));
  }

  /** Lists sandboxes, by default those that have not ended. */
  async list(search: SessionSearch = {}, { signal }: Signalled = {}): Promise<readonly Sandbox[]> {
    const sessions = await listSessions(this.#client, { kind: 'execution', search, signal });
    return sessions.map((session) => new Sandbox(this.#client, session.id, session));
  }
}

const createMsMax = 150_000;

const sourceOf = (from: NonNullable<SandboxOptions['from']>) => {
  if (from instanceof Sandbox) return { session: from.id };
  return 'id' in from ? { snapshot: from.id } : from;
};
