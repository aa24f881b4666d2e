/**
 * What a check or a use of an MCP server means for its health, and when it is looked at next. Total and pure.
 *
 * The breaker is open from the third failure in a row until the first success. While it is open the server is tried
 * again after 5, 10, 20, 40 and 80 seconds; then it is given up until somebody asks for it. The table and
 * what always holds (R1..R4) are in docs/spec/mcp-registry.md.
 */
import { cutBytes } from '../text.ts';
import { mcpBreakerFailures, mcpErrorBytesMax, mcpReconnectMs, mcpReconnectsMax } from './limits.ts';
import type { McpHealth, McpServer } from './server.ts';

/** `checkMs`: how often a healthy server is checked. */
export type CheckTimes = { readonly checkMs: number };

export type NextHealth = {
  readonly health: McpHealth;
  /** Epoch milliseconds; absent: not before somebody asks. */
  readonly nextCheckAt?: number;
};

/** Of a server that was never reached. */
export const unknownHealth: McpHealth = { status: 'reconnecting', consecutiveFailures: 0, attempts: 0 };

/** Of a server that begins again: enabled, or changed. What was is remembered, and counts no more. */
export const renewedHealth = ({ lastCheck, lastSuccess }: McpHealth): McpHealth => ({
  ...unknownHealth,
  ...(lastCheck === undefined ? {} : { lastCheck }),
  ...(lastSuccess === undefined ? {} : { lastSuccess }),
});

/** Heals whatever was before (R2). `note`: what is wrong although it answers. */
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

/** One step towards being given up (R1). */
export const afterFailure = (
  health: McpHealth,
  { at, error }: { readonly at: number; readonly error: string },
  times: CheckTimes,
): NextHealth => {
  const consecutiveFailures = health.consecutiveFailures + 1;
  const failed = { ...health, lastCheck: at, consecutiveFailures, error: cut(error) };
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
 * Whether a server may be connected to now without being asked for: always while the breaker is closed, at the
 * moments of its attempts while it is open, never once it was given up (R3).
 */
export const mayConnect = (health: McpHealth, now: number, times: CheckTimes): boolean => {
  if (health.status === 'disconnected') return false;
  if (!isBreakerOpen(health)) return true;
  return now >= (health.lastCheck ?? 0) + reconnectDelayMs(health.attempts, times);
};

/** Only enabled servers on the network are checked (R4): the others live in sandboxes, and show themselves by use. */
export const dueAtOf = (
  { config, isEnabled }: Pick<McpServer, 'config' | 'isEnabled'>,
  nextCheckAt: number | undefined,
): number | undefined => (isEnabled && config.transport !== 'stdio' ? nextCheckAt : undefined);

/** As it is shown. */
export const shownStatus = ({ isEnabled, health }: McpServer): McpHealth['status'] | 'disabled' =>
  isEnabled ? health.status : 'disabled';
