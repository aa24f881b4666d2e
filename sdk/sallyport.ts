/** The client of one deployment: its sandboxes, its sessions, and every other route by `request`. */

import { AgentSessions } from './agent-sessions.ts';
import { ApiClient, type ClientOptions } from './api-client.ts';
import { SallyportError } from './errors.ts';
import type { QueryOf, Signalled } from './route.ts';
import { api, auditExportPath, type SearchPage } from './routes.ts';
import { Sandboxes } from './sandboxes.ts';

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
    const { body } = await this.fetch(auditExportPath, { signal });
    return body ?? new ReadableStream({ start: (controller) => controller.close() });
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
    suggestions: ['Give `url`, or set SALLYPORT_URL.'],
  });
