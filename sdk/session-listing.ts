/** The sessions of one kind in a deployment: all pages of them. */
import type { ApiClient } from './api-client.ts';
import { readPages } from './pages.ts';
import type { QueryOf, Signalled } from './route.ts';
import { api, type Session } from './routes.ts';

/** A label is `key:value`. */
export type SessionSearch = Omit<QueryOf<typeof api.listSessions>, 'after'>;

type Listing = Signalled & { readonly kind: Session['kind']; readonly search: SessionSearch };

/** By default those that have not ended. */
export const listSessions = async (
  client: ApiClient,
  { kind, search, signal }: Listing,
): Promise<readonly Session[]> => {
  const sessions = await readPages(
    (after) => {
      const query = { status: 'active' as const, ...search, ...(after === undefined ? {} : { after }) };
      return client.request(api.listSessions, { query }, { signal });
    },
    (page) => page.sessions,
  );
  return sessions.filter((session) => session.kind === kind);
};
