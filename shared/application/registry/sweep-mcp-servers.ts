/**
 * The sweep of MCP servers: checks every registered server that is due, and reads nothing else.
 *
 * Safe to run concurrently (R5): each check is claimed. One failing server ends no sweep. Where sweeps are far
 * apart, a failed server is retried between them: so a sweep waits, for a given time, for those retries. It also
 * takes the servers that become due shortly after that time, which would otherwise wait for the sweep after the
 * next.
 */

import { type CheckTimes, mayConnect } from '../../domain/mcp/health.ts';
import { mcpChecksAtOnceMax, mcpDueMax } from '../../domain/mcp/limits.ts';
import type { McpServer } from '../../domain/mcp/server.ts';
import type { RegistryDeps } from '../deps.ts';
import { checkServer, type Noted } from './check-mcp-server.ts';

export type McpSweepReport = { readonly checked: number; readonly failed: number };

export const sweepMcpServers = async (
  ports: RegistryDeps,
  { times, forMs }: { readonly times: CheckTimes; readonly forMs: number },
): Promise<McpSweepReport> => {
  const until = ports.world.now() + forMs;
  const aheadMs = Math.min(forMs / 5, times.checkMs / 6);
  let [checked, failed] = [0, 0];
  let attempts: readonly number[] = [];
  for (;;) {
    const from = ports.world.now();
    const due = await ports.mcpServers.due(from + aheadMs, mcpDueMax, (error) =>
      ports.telemetry.error('a record of an MCP server cannot be read', { error }),
    );
    const ready = due.filter(({ health }) => mayConnect(health, from, times));
    const results = await checkAll(ports, ready, times);
    const noted = results.flatMap((result) => (result.status === 'fulfilled' ? (result.value ?? []) : []));
    checked += noted.length;
    failed += results.filter(({ status }) => status === 'rejected').length;
    const now = ports.world.now();
    const hasMore = due.length === mcpDueMax && noted.length > 0;
    attempts = [...attempts.filter((at) => at > now), ...attemptsOf(noted)];
    const next = hasMore ? now : Math.min(...attempts);
    if (next > until) return { checked, failed };
    await ports.world.sleep(Math.max(0, next - now));
  }
};

/** The times of the next retries. */
const attemptsOf = (noted: readonly Noted[]): readonly number[] =>
  noted.flatMap(({ server, dueAt }) =>
    server.health.status === 'reconnecting' && dueAt !== undefined ? [dueAt] : [],
  );

const checkAll = async (ports: RegistryDeps, due: readonly McpServer[], times: CheckTimes) => {
  const results: PromiseSettledResult<Noted | undefined>[] = [];
  for (let from = 0; from < due.length; from += mcpChecksAtOnceMax) {
    const portion = due.slice(from, from + mcpChecksAtOnceMax);
    results.push(...(await Promise.allSettled(portion.map((server) => checkServer(ports, server, times)))));
  }
  for (const result of results)
    if (result.status === 'rejected')
      ports.telemetry.error('an MCP server was not checked', { error: result.reason });
  return results;
};
