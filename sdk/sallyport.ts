/** The client of one deployment: its sandboxes and sessions, created, found and listed, and every other route by `request`. */

import { AgentSession } from './agent-session.ts';
import { ApiClient, type ClientOptions } from './api-client.ts';
import { SallyportError } from './errors.ts';
import { streamOf } from './file-content.ts';
import { readPages } from './pages.ts';
import type { QueryOf, Signalled } from './route.ts';
import {
  api,
  auditExportPath,
  type SearchPage,
  type Session,
  type SessionOptions,
  type Snapshot,
} from './routes.ts';
import { Sandbox } from './sandbox.ts';

/** `url` and `token` come from SALLYPORT_URL and SALLYPORT_TOKEN where they are absent. */
export type SallyportOptions = Omit<ClientOptions, 'url'> & { readonly url?: string | undefined };

export type SearchOptions = Omit<QueryOf<typeof api.searchSessions>, 'text'>;

export class Sallyport extends ApiClient {
  readonly sandboxes: Sandboxes;
  readonly sessions: AgentSessions;

  constructor(options: SallyportOptions = {}) {
    const url = options.url ?? variable('SALLYPORT_URL');
    if (url === undefined || !URL.canParse(url)) throw noUrl(url);
    super({ ...options, url, token: options.token ?? variable('SALLYPORT_TOKEN') });
    this.sandboxes = new Sandboxes(this);
    this.sessions = new AgentSessions(this);
  }

  /**
   * Finds sessions, a page at a time, whose title or messages hold every word of the text, in the order of their creation, newest first. A page
   * searches at most 25 sessions: one without results may have a `next`.
   */
  search(text: string, options: SearchOptions = {}, { signal }: Signalled = {}): Promise<SearchPage> {
    return this.request(api.searchSessions, { query: { text, ...options } }, { signal });
  }

  /** Reads the audit log with its seals, as JSON lines, oldest first; for an administrator. */
  async exportAudit({ signal }: Signalled = {}): Promise<ReadableStream<Uint8Array>> {
    return streamOf(await this.fetch(auditExportPath, { signal }), { signal });
  }
}

type Host = {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
};

/** Undefined in a browser. */
const variable = (name: string): string | undefined => (globalThis as Host).process?.env?.[name] || undefined;

const noUrl = (url: string | undefined): SallyportError =>
  new SallyportError(0, {
    code: 'invalid_request',
    message: url === undefined ? 'the URL of the deployment is missing' : `${url} is not a URL`,
    suggestions: ['Give `url`, or, outside a browser, set SALLYPORT_URL.'],
  });

export type AgentOptions = SessionOptions;

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

export type SandboxOptions = Omit<SessionOptions, 'from'> & {
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
      from: from && sourceOf(from),
    };
    const session = await this.#client.request(api.makeSession, { body }, { signal });
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

const sourceOf = (from: NonNullable<SandboxOptions['from']>) => {
  if (from instanceof Sandbox) return { session: from.id };
  return 'id' in from ? { snapshot: from.id } : from;
};

/** A label is `key:value`; of several, a session has all. */
export type SessionSearch = Omit<QueryOf<typeof api.listSessions>, 'after' | 'kind'>;

type Listing = Signalled & { readonly kind: Session['kind']; readonly search: SessionSearch };

/** All pages of them, by default of those that have not ended. */
const listSessions = async (
  client: ApiClient,
  { kind, search, signal }: Listing,
): Promise<readonly Session[]> => {
  const sessions = await readPages(
    (after) => {
      const query = { status: 'active' as const, ...search, after };
      return client.request(api.listSessions, { query }, { signal });
    },
    (page) => page.sessions,
  );
  return sessions.filter((session) => session.kind === kind);
};
