/**
 * The headers that a page of a preview receives, and those of every answer of it: the page may load from, talk to and frame its own path, and nothing else.
 *
 * `sandbox` without `allow-same-origin` gives the page an origin that no other page shares; inside it `'self'` would mean
 * nothing that can be relied on, so the one source is spelt out. A path in a source is not compared after a redirect
 * (CSP Level 3, section 7.6), the origin is: `preview-redirects.ts` refuses those that leave the path. SECURITY.md lists what no policy stops.
 */
import { originOf } from '#shared/contracts/browser-request.ts';
import { header } from '#shared/contracts/credentials.ts';
import type { ApiEvent } from './api-route.ts';

/** Headers that a page does not receive: credentials, and those of the proxies in front. */
const heldBack =
  /^(authorization|cookie|host|connection|content-length|transfer-encoding|te|upgrade|expect|keep-alive|trailer|proxy-.*|x-amz.*|x-forwarded-.*|cloudfront-.*|via)$/;

/** Where API Gateway asks for a key, it is CloudFront's; otherwise a key is the client's, for the page. */
const isKeyOfOrigin = (name: string, { requestContext }: ApiEvent): boolean =>
  name === 'x-api-key' && typeof requestContext.identity?.apiKey === 'string';

export const forwarded = (event: ApiEvent): Record<string, string> =>
  Object.fromEntries(
    Object.entries(event.headers).flatMap(([sent, value]) => {
      const name = sent.toLowerCase();
      return value === undefined || heldBack.test(name) || isKeyOfOrigin(name, event) ? [] : [[name, value]];
    }),
  );

/** The headers of a refusal, which loads nothing. */
export const fence = {
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-dns-prefetch-control': 'off',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': 'null',
  'access-control-allow-credentials': 'true',
};

/** Attributes of a cookie for a path, which no script reads. */
export const cookieAttributes = ({ headers }: ApiEvent, path: string, seconds: number): string => {
  const isSecure = header(headers, 'x-forwarded-proto') === 'https';
  return `Path=${path}; Max-Age=${seconds}; HttpOnly; ${isSecure ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax'}`;
};

/** Headers of the page that would loosen its policy, or send reports and requests past it. */
const loosening =
  /^(content-security-policy.*|access-control-.*|refresh|reporting-endpoints|report-to|nel|speculation-rules|x-dns-prefetch-control)$/;

/**
 * Headers that a browser keeps for the whole origin, which is the app's. A challenge among them would ask a person for a password under the
 * app's address, and the answer to it (`authorization`) never reaches the page. A session that is bound to the device holds each request
 * of the origin until the page has answered it (https://w3c.github.io/webappsec-dbsc/).
 */
const ofOrigin =
  /^(set-cookie|set-login|service-worker-allowed|clear-site-data|strict-transport-security|alt-svc|accept-ch|critical-ch|use-as-dictionary|www-authenticate|proxy-.*|(sec|secure)-session-.*|shared-storage-write|attribution-reporting-.*|observe-browsing-topics|activate-storage-access)$/;

/** Headers of the connection, and those by which the platform's own parts speak. */
const ofPlatform = /^(connection|transfer-encoding|content-length|keep-alive|x-amzn-.*|x-sallyport-.*)$/;

const isDropped = (name: string): boolean =>
  [loosening, ofOrigin, ofPlatform].some((names) => names.test(name));

export const fenced = (response: Response, event: ApiEvent, path: string): Record<string, string> => ({
  ...Object.fromEntries([...response.headers].filter(([name]) => !isDropped(name))),
  ...fence,
  'content-security-policy': policyOf(event, path),
});

const policyOf = (event: ApiEvent, path: string): string => {
  const origin = originOf(event);
  const own = origin === undefined ? "'none'" : `${origin}${path}`;
  const local = origin === undefined ? '' : ' data: blob:';
  return [
    'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads',
    `default-src ${own}${local}${origin === undefined ? '' : " 'unsafe-inline' 'unsafe-eval'"}`,
    `connect-src ${own}${origin === undefined ? '' : ` ${own.replace(/^http/, 'ws')}`}${local}`,
    `frame-src ${own}${local}`,
    `worker-src ${own}${local}`,
    "object-src 'none'",
    `form-action ${own}`,
    `base-uri ${own}`,
    "frame-ancestors 'none'",
  ].join('; ');
};
