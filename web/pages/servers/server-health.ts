/** Health of MCP servers: numbers, order and advice. Pure. */
import type { McpServer } from '#sdk/routes.ts';

export type HealthSummary = {
  readonly total: number;
  readonly healthy: number;
  readonly issues: number;
  readonly disabled: number;
};

const isIll = ({ enabled, status }: McpServer): boolean => enabled && status !== 'healthy';

/** A server that was never checked has no issue yet. */
export const isUnseen = ({ status, lastCheck }: McpServer): boolean =>
  status === 'reconnecting' && lastCheck === undefined;

export const summaryOf = (servers: readonly McpServer[]): HealthSummary => ({
  total: servers.length,
  healthy: servers.filter(({ enabled, status }) => enabled && status === 'healthy').length,
  issues: servers.filter((server) => isIll(server) && !isUnseen(server)).length,
  disabled: servers.filter(({ enabled }) => !enabled).length,
});

/** Servers with issues first, disabled ones last. */
export const byUrgency = (servers: readonly McpServer[]): readonly McpServer[] => {
  const rank = (server: McpServer): number => (isIll(server) ? 0 : server.enabled ? 1 : 2);
  return [...servers].sort((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
};

const rejected = 'The server rejected the credentials. Check its headers.';
/** Its value may have expired, and a new one needs no change of the server. */
const rejectedSecret = (name: string): string =>
  `The server rejected the credentials. If they have expired, give the secret ${name} of the project a new value.`;
/** Mostly it wants a sign-in by OAuth, which no program of ours does. */
const wantsCredentials =
  'The server wants credentials, and this registration has no headers. Add the header Authorization with a token of that service, best as a secret of the project. A sign-in to the server (OAuth) is not supported.';
const noEndpoint = 'No MCP endpoint at this URL. Check the path.';

/** Of the answer of HTTP, where there was one. */
const adviceOnStatus = ({ httpStatus, config }: Failed): string | undefined => {
  if (httpStatus === 404) return noEndpoint;
  if (httpStatus !== 401 && httpStatus !== 403) return undefined;
  const values = Object.values(config.headers ?? {});
  const [, secret] = /\$\{(\w+)\}/.exec(values.join(' ')) ?? [];
  if (secret !== undefined) return rejectedSecret(secret);
  return values.length === 0 ? wantsCredentials : rejected;
};

const advices: readonly (readonly [RegExp, string])[] = [
  [/secret/i, 'Add the secret to the project, or use another in the headers or variables.'],
  [/unauthor|forbidden/i, rejected],
  [/not found/i, noEndpoint],
  [
    /private|loopback|link-local/i,
    'Private addresses are blocked. The operator can allow one with MCP_ALLOWED_PRIVATE_HOSTS.',
  ],
  [/certificate|tls|ssl/i, 'The certificate is not trusted. Check the URL or renew the certificate.'],
  [
    /timed? ?out|in time|too long/i,
    'The server did not respond in time. Check that it runs, or raise the call timeout.',
  ],
  [
    /refused|unreachable|ENOTFOUND|resolve|connect/i,
    'Cannot connect. Check that the server runs and that the URL is right.',
  ],
  [/exit|spawn|command/i, 'The program exited. Try its command in a session of the project.'],
];

type Failed = Pick<McpServer, 'error' | 'httpStatus' | 'config'>;

/** Advice about a failure. */
export const adviceOn = (failed: Failed): string =>
  adviceOnStatus(failed) ??
  advices.find(([pattern]) => pattern.test(failed.error ?? ''))?.[1] ??
  'Check that it runs and responds.';

/** Advice about the last error, and whether the server is retried. */
export const adviceFor = ({ status, ...failed }: Failed & Pick<McpServer, 'status'>): string => {
  const advice = adviceOn(failed);
  if (status === 'disconnected') return `${advice} Automatic retries have stopped. Test it once it is fixed.`;
  if (status === 'reconnecting') return `${advice} Retrying automatically.`;
  return advice;
};

/** The error without the prefix that the card shows already. */
export const plainError = (error: string): string =>
  error.replace(/^MCP server '[^']*'(?: is not available)?: /, '');

/** Label of the status badge. */
export const statusWord = (server: McpServer): string =>
  isUnseen(server) ? 'not checked yet' : server.status;
