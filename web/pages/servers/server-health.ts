/** How the MCP servers of a project are, in numbers and messages. Pure. */
import type { McpServer } from '#sdk/routes.ts';

export type HealthSummary = {
  readonly total: number;
  readonly healthy: number;
  readonly issues: number;
  readonly disabled: number;
};

const isIll = ({ enabled, status }: McpServer): boolean => enabled && status !== 'healthy';

/** Not looked at yet is no issue. */
export const isUnseen = ({ status, lastCheck }: McpServer): boolean =>
  status === 'reconnecting' && lastCheck === undefined;

export const summaryOf = (servers: readonly McpServer[]): HealthSummary => ({
  total: servers.length,
  healthy: servers.filter(({ enabled, status }) => enabled && status === 'healthy').length,
  issues: servers.filter((server) => isIll(server) && !isUnseen(server)).length,
  disabled: servers.filter(({ enabled }) => !enabled).length,
});

/** What is wrong first, what is off last. */
export const byUrgency = (servers: readonly McpServer[]): readonly McpServer[] => {
  const rank = (server: McpServer): number => (isIll(server) ? 0 : server.enabled ? 1 : 2);
  return [...servers].sort((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
};

const advices: readonly (readonly [RegExp, string])[] = [
  [/secret/i, 'Add the secret to the project, or name another in the headers or variables.'],
  [/\b(401|403)\b|unauthor|forbidden/i, 'The server refuses the credentials: look at its headers.'],
  [/\b404\b|not found/i, 'There is no MCP at this address: look at its path.'],
  [
    /private|loopback|link-local/i,
    'Addresses inside are closed: the operator can open one with MCP_ALLOWED_PRIVATE_HOSTS.',
  ],
  [/certificate|tls|ssl/i, 'Its certificate is not trusted: look at the address, or renew the certificate.'],
  [
    /timed? ?out|in time|too long/i,
    'It is too slow, or does not listen: see that it runs, or allow a call more time.',
  ],
  [
    /refused|unreachable|ENOTFOUND|resolve|connect/i,
    'Nothing listens there: see that it runs, and that the address is right.',
  ],
  [/exit|spawn|command/i, 'Its program ended: try its command in a session of the project.'],
];

/** What to do about the last error; of one that was given up, how it is tried again. */
export const adviceFor = ({ status, error = '' }: Pick<McpServer, 'status' | 'error'>): string => {
  const advice = advices.find(([pattern]) => pattern.test(error))?.[1] ?? 'See that it runs and answers.';
  if (status === 'disconnected')
    return `${advice} It is not tried again by itself: test it, once it is mended.`;
  if (status === 'reconnecting') return `${advice} It is tried again by itself.`;
  return advice;
};

/** The error without the prefix that the card shows already. */
export const plainError = (error: string): string =>
  error.replace(/^MCP server '[^']*'(?: is not available)?: /, '');

/** What the badge says. */
export const statusWord = (server: McpServer): string =>
  isUnseen(server) ? 'not checked yet' : server.status;
