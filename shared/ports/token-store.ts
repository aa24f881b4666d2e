/** Access tokens by the hash of their text; the text is never here. */
import type { AccessToken } from '../domain/token.ts';

export interface TokenStore {
  put(token: AccessToken): Promise<void>;
  get(hash: string): Promise<AccessToken | undefined>;
  /** Newest first. `after` is what the previous page gave as `next`. */
  list(page: {
    readonly after?: string;
    readonly itemsMax: number;
  }): Promise<{ readonly tokens: readonly AccessToken[]; readonly next?: string }>;
  /** What was removed; undefined when there was none. It opens nothing from then on. */
  remove(id: string): Promise<AccessToken | undefined>;
}
