/** The sessions of agents in a deployment: created, found, listed. */
import { AgentSession } from './agent-session.ts';
import type { ApiClient } from './api-client.ts';
import type { BodyOf, Signalled } from './route.ts';
import { api } from './routes.ts';
import { listSessions, type SessionSearch } from './session-listing.ts';

export type AgentOptions = Omit<BodyOf<typeof api.makeSession>, 'kind'>;

export class AgentSessions {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  async create(options: AgentOptions = {}, { signal }: Signalled = {}): Promise<AgentSession> {
    const body = { ...options, kind: 'agent' as const };
    const session = await this.#client.request(api.makeSession, { body }, { signal });
    return new AgentSession(this.#client, session.id, session);
  }

  /** Finds a session by its id; `session_not_found` if there is none. */
  async get(id: string, options: Signalled = {}): Promise<AgentSession> {
    return new AgentSession(this.#client, id, await new AgentSession(this.#client, id).info(options));
  }

  /** Lists sessions, by default those that have not ended. */
  async list(search: SessionSearch = {}, { signal }: Signalled = {}): Promise<readonly AgentSession[]> {
    const sessions = await listSessions(this.#client, { kind: 'agent', search, signal });
    return sessions.map((session) => new AgentSession(this.#client, session.id, session));
  }
}
