/** Access tokens by the hash of their text; the text itself is never stored. */
import type { AccessToken } from '../domain/principal.ts';

export interface TokenStore {
  put(token: AccessToken): Promise<void>;
  get(hash: string): Promise<AccessToken | undefined>;
  /** Newest first. `after` is the previous page's `next`. */
  list(page: {
    readonly after?: string;
    readonly itemsMax: number;
  }): Promise<{ readonly tokens: readonly AccessToken[]; readonly next?: string }>;
  /** The removed token, which grants nothing from then on; undefined when there was none. */
  remove(id: string): Promise<AccessToken | undefined>;
}
