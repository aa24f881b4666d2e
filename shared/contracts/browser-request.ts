/**
 * The parts of a browser's request that tell whose page sent it: its cookies, its origin, and the origin that it sees of
 * us. And the cookies of a sign-in, as they are set and cleared.
 *
 * The name's prefix `__Host-` has the browser keep a cookie for this host alone, over a secure connection, and let no other
 * host or path set it (RFC 6265bis, 4.1.3).
 */
import { isOwnRequest } from '#shared/domain/browser-request.ts';
import { header } from './credentials.ts';

export type Headers = Readonly<Record<string, string | undefined>> | null;

/** Opens `/api` and `/ws`. */
export const signInCookie = '__Host-sallyport';
/** The secrets of a sign-in that has begun. */
export const flowCookie = '__Host-sallyport-login';

export const cookieNamed = (headers: Headers, name: string): string | undefined =>
  (header(headers, 'cookie') ?? '')
    .split(/; */)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/** `Lax`: a browser that comes back from the issuer sends it. Zero seconds clear it. */
export const setCookie = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`;

/** Letters, digits, dots and hyphens, or an IPv6 address in brackets; a port. Nothing that could end a source. */
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * The origin that the browser sees: CloudFront sets it in `x-forwarded-host`, since the gateway behind it has
 * another name; on one machine it is the `Host`. Undefined for a value that is no name.
 */
export const originOf = ({ headers }: { readonly headers: Headers }): string | undefined => {
  const host = header(headers, 'x-forwarded-host') ?? header(headers, 'host') ?? '';
  const scheme = header(headers, 'x-forwarded-proto') === 'https' ? 'https' : 'http';
  return hostPattern.test(host) ? `${scheme}://${host}` : undefined;
};

/** The origin under which people and clients know the deployment: the public one, where there is one. */
export const publicOriginOf = (
  event: { readonly headers: Headers },
  publicUrl: string | undefined,
): string | undefined => (publicUrl === undefined ? originOf(event) : new URL(publicUrl).origin);

/** Our origins: the one that the browser sees, and that of the public address. */
const ownOrigins = (headers: Headers, publicUrl: string | undefined): readonly string[] =>
  [originOf({ headers }), publicUrl].flatMap((url) =>
    url === undefined || !URL.canParse(url) ? [] : [new URL(url).origin],
  );

type Asked = { readonly kind: 'read' | 'write' | 'upgrade'; readonly publicUrl: string | undefined };

/** False for a request that a page of another origin may have caused. */
export const isFromOwnPage = (headers: Headers, { kind, publicUrl }: Asked): boolean =>
  isOwnRequest({
    kind,
    origin: header(headers, 'origin'),
    fetchSite: header(headers, 'sec-fetch-site'),
    own: ownOrigins(headers, publicUrl),
  });
