/**
 * The health of an MCP server: what a check or a use means for it, and when it is checked next. Total and pure.
 *
 * The breaker is open from the third failure in a row until the first success. While it is open the server is
 * tried again after 5, 10, 20, 40 and 80 seconds; then only on request. The table and its invariants (R1..R4) are
 * in docs/spec/mcp-registry.md.
 */
import { cutBytes } from '../text.ts';
import { mcpBreakerFailures, mcpErrorBytesMax, mcpReconnectMs, mcpReconnectsMax } from './limits.ts';
import type { McpHealth, McpServer } from './server.ts';

/** `checkMs`: the interval at which a healthy server is checked. */
export type CheckTimes = { readonly checkMs: number };

type NextHealth = {
  readonly health: McpHealth;
  /** Epoch milliseconds; absent: not before a request asks for it. */
  readonly nextCheckAt?: number;
};

/** The health of a server that was never reached. */
export const unknownHealth: McpHealth = { status: 'reconnecting', consecutiveFailures: 0, attempts: 0 };

/** The health of a server that starts afresh: enabled, or changed. The earlier times stay for display only. */
export const renewedHealth = ({ lastCheck, lastSuccess }: McpHealth): McpHealth => ({
  ...unknownHealth,
  ...(lastCheck === undefined ? {} : { lastCheck }),
  ...(lastSuccess === undefined ? {} : { lastSuccess }),
});

/** A success heals whatever was before (R2). `note`: a problem it has although it answers. */
export const afterSuccess = (
  { at, note }: { readonly at: number; readonly note?: string | undefined },
  { checkMs }: CheckTimes,
): NextHealth => ({
  health: {
    status: 'healthy',
    lastCheck: at,
    lastSuccess: at,
    consecutiveFailures: 0,
    attempts: 0,
    ...(note === undefined ? {} : { error: cut(note) }),
  },
  nextCheckAt: at + checkMs,
});

/** `httpStatus`: of the answer, if it answered. */
type Failure = { readonly at: number; readonly error: string; readonly httpStatus?: number | undefined };

/** One step towards giving the server up (R1). */
export const afterFailure = (
  { httpStatus: _, ...health }: McpHealth,
  { at, error, httpStatus }: Failure,
  times: CheckTimes,
): NextHealth => {
  const consecutiveFailures = health.consecutiveFailures + 1;
  const failed = {
    ...health,
    lastCheck: at,
    consecutiveFailures,
    error: cut(error),
    ...(httpStatus === undefined ? {} : { httpStatus }),
  };
  if (consecutiveFailures < mcpBreakerFailures)
    return { health: { ...failed, status: 'unhealthy' }, nextCheckAt: at + times.checkMs };
  const attempts = isBreakerOpen(health) ? Math.min(health.attempts + 1, mcpReconnectsMax) : 0;
  if (attempts >= mcpReconnectsMax) return { health: { ...failed, attempts, status: 'disconnected' } };
  const nextCheckAt = at + reconnectDelayMs(attempts, times);
  return { health: { ...failed, attempts, status: 'reconnecting' }, nextCheckAt };
};

const cut = (text: string): string => cutBytes(text, mcpErrorBytesMax);

export const isBreakerOpen = ({ consecutiveFailures }: McpHealth): boolean =>
  consecutiveFailures >= mcpBreakerFailures;

/** Where checks are more frequent than the first attempt, the attempts are too. */
const reconnectDelayMs = (attempts: number, { checkMs }: CheckTimes): number =>
  Math.min(mcpReconnectMs, checkMs) * 2 ** attempts;

/**
 * True when a server may be connected to now without a request: always while the breaker is closed, at the
 * moments of its attempts while it is open, never once it was given up (R3).
 */
export const mayConnect = (health: McpHealth, now: number, times: CheckTimes): boolean => {
  if (health.status === 'disconnected') return false;
  if (!isBreakerOpen(health)) return true;
  return now >= (health.lastCheck ?? 0) + reconnectDelayMs(health.attempts, times);
};

/** Only enabled servers on the network are checked (R4): the others run in sandboxes, and use shows their health. */
export const dueAtOf = (
  { config, isEnabled }: Pick<McpServer, 'config' | 'isEnabled'>,
  nextCheckAt: number | undefined,
): number | undefined => (isEnabled && config.transport !== 'stdio' ? nextCheckAt : undefined);

/** The status as clients see it. */
export const shownStatus = ({ isEnabled, health }: McpServer): McpHealth['status'] | 'disabled' =>
  isEnabled ? health.status : 'disabled';
