/**
 * The headers of every answer of a preview: the page may load from, talk to and frame its own path, and nothing else.
 *
 * `sandbox` without `allow-same-origin` gives the page an origin that no other page shares; inside it `'self'` would mean
 * nothing that can be relied on, so the one source is spelt out. A path in a source is not compared after a redirect
 * (CSP Level 3, section 7.6), the origin is. SECURITY.md lists what no policy stops.
 */
import { header } from '#shared/contracts/credentials.ts';
import type { ApiEvent } from './api-route.ts';

/** Letters, digits, dots and hyphens, or an IPv6 address in brackets; a port. Nothing that could end a source. */
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

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

/** Headers of these names that the page sets are dropped: they would loosen the policy, or send reports and requests past it. */
const dropped =
  /^(set-cookie|content-security-policy.*|service-worker-allowed|clear-site-data|strict-transport-security|access-control-.*|connection|transfer-encoding|content-length|keep-alive|refresh|reporting-endpoints|report-to|nel|speculation-rules|x-dns-prefetch-control)$/;

export const fenced = (response: Response, event: ApiEvent, path: string): Record<string, string> => ({
  ...Object.fromEntries([...response.headers].filter(([name]) => !dropped.test(name))),
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
    `connect-src ${own}${local}`,
    `frame-src ${own}${local}`,
    `worker-src ${own}${local}`,
    "object-src 'none'",
    `form-action ${own}`,
    `base-uri ${own}`,
    "frame-ancestors 'none'",
  ].join('; ');
};

/**
 * The origin that the browser sees: CloudFront sets it in `x-forwarded-host`, since the gateway behind it has
 * another name; on one machine it is the `Host`. Undefined for a value that is no name; the page may load nothing
 * then.
 */
const originOf = ({ headers }: ApiEvent): string | undefined => {
  const host = header(headers, 'x-forwarded-host') ?? header(headers, 'host') ?? '';
  const scheme = header(headers, 'x-forwarded-proto') === 'https' ? 'https' : 'http';
  return hostPattern.test(host) ? `${scheme}://${host}` : undefined;
};
