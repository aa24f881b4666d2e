/**
 * Requests with a browser's cookie (AC10): a browser sends the cookie whatever page asks, so only pages of our own origin
 * count. And the paths to which a sign-in may lead (AC11).
 *
 * A write and a WebSocket must name our origin. A read may name none, as browsers do for their own pages, but no other
 * page may cause it: a site is more than an origin, so `SameSite` alone does not tell two ports of one machine apart.
 */
export type BrowserRequest = {
  /** `upgrade`: the handshake of a WebSocket. */
  readonly kind: 'read' | 'write' | 'upgrade';
  /** The header `Origin`. */
  readonly origin: string | undefined;
  /** The header `Sec-Fetch-Site`. */
  readonly fetchSite: string | undefined;
  /** Our origins, as a browser writes them. */
  readonly own: readonly string[];
};

const ownSites: readonly (string | undefined)[] = [undefined, 'same-origin', 'none'];

/** True when a page of ours asks, or the person alone. */
export const isOwnRequest = ({ kind, origin, fetchSite, own }: BrowserRequest): boolean => {
  if (origin === undefined) return kind === 'read' && ownSites.includes(fetchSite);
  return own.includes(origin);
};

const pathCharactersMax = 512;

/** A path of this origin: never another host's, which `//host` and `/\host` are to a browser. */
export const isLocalPath = (text: string): boolean =>
  text.length <= pathCharactersMax && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text);
