/**
 * Checks a registered MCP server: connects, lists its tools, and writes its new health.
 *
 * A check is claimed by a write over the version that was read, so that one of any number of janitors makes it;
 * its outcome is written over the claim, so that a change of the server in between wins.
 */

import {
  afterFailure,
  afterSuccess,
  type CheckTimes,
  dueAtOf,
  shownStatus,
} from '../../domain/mcp/health.ts';
import { mcpCheckMsMax, mcpClaimMs } from '../../domain/mcp/limits.ts';
import { namesOfSecrets, type Texts, withoutSecrets } from '../../domain/mcp/secrets.ts';
import {
  keepTools,
  leftOutNote,
  type McpServer,
  type McpTool,
  type RemoteConfig,
} from '../../domain/mcp/server.ts';
import { isElsewhere } from '../../domain/mcp/validate.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { Deps, PublishDeps, RegistryDeps } from '../deps.ts';
import { targetOf } from './mcp-target.ts';
import { publishMcpStatus } from './registry-change.ts';

/** `tools`: absent when they were not listed. `error` is fit for a client. `httpStatus`: of the answer, if the server answered. */
export type McpOutcome =
  | { readonly ok: true; readonly tools?: readonly McpTool[] }
  | { readonly ok: false; readonly error: string; readonly httpStatus?: number };

/** The server after the check, and its next check; undefined when another caller was faster, or it is not checked. */
export const checkServer = async (
  ports: RegistryDeps,
  server: McpServer,
  times: CheckTimes,
): Promise<Noted | undefined> => {
  const { config } = server;
  const dueAt = dueAtOf(server, ports.world.now() + mcpClaimMs);
  if (dueAt === undefined || config.transport === 'stdio') return undefined;
  const claimed = await ports.mcpServers.replace(server, { version: server.version, dueAt });
  if (claimed === undefined) return undefined;
  return recordOutcome(ports, claimed, { outcome: await probe(ports, claimed, config), times });
};

/** Connects and lists, within five seconds after the client is loaded; every failure is the server's, worded without secrets. */
export const probe = async (
  ports: RegistryDeps,
  { project, name }: Pick<McpServer, 'project' | 'name'>,
  config: RemoteConfig,
): Promise<McpOutcome> => {
  let secrets: Texts = {};
  const late = new AbortController();
  const done = new AbortController();
  try {
    await ports.remoteMcp.ready();
    void ports.world.sleep(mcpCheckMsMax, done.signal).then(() => late.abort());
    const needsSecrets = Object.values(config.headers ?? {}).some((text) => namesOfSecrets(text).length > 0);
    if (needsSecrets) secrets = await ports.secrets.read(project);
    const target = targetOf({ name, config }, { secrets, timeoutMs: mcpCheckMsMax });
    const tools = await Promise.race([
      ports.remoteMcp.listTools(target, late.signal),
      aborted(late.signal, done.signal),
    ]);
    return { ok: true, tools };
  } catch (error) {
    if (!isAppError(error)) ports.telemetry.error('an MCP server could not be checked', { error, name });
    const said = isAppError(error) ? error.message : 'it could not be checked';
    return { ok: false, error: withoutSecrets(said, config, secrets), ...httpStatusIn(error) };
  } finally {
    done.abort();
  }
};

/** As the adapter gives it. */
const httpStatusIn = (error: unknown): { readonly httpStatus?: number } => {
  const status = isAppError(error) ? error.details.facts?.['httpStatus'] : undefined;
  return typeof status === 'number' ? { httpStatus: status } : {};
};

/** The client has a deadline itself; one that ignores it is not awaited. */
const aborted = (late: AbortSignal, done: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    late.addEventListener(
      'abort',
      () => {
        if (done.aborted) return;
        reject(new AppError('mcp_server_unavailable', `it did not answer in ${mcpCheckMsMax} ms`));
      },
      { once: true },
    );
  });

export type Noted = { readonly server: McpServer; readonly dueAt?: number };

/** Writes an outcome over the server as it was read; undefined when it was changed since. */
export const recordOutcome = async (
  ports: PublishDeps & Deps<'sessions' | 'mcpServers'>,
  server: McpServer,
  { outcome, times }: { readonly outcome: McpOutcome; readonly times: CheckTimes },
): Promise<Noted | undefined> => {
  const at = ports.world.now();
  const kept = outcome.ok && outcome.tools !== undefined ? keepTools(outcome.tools) : undefined;
  const next = outcome.ok
    ? afterSuccess({ at, note: kept && leftOutNote(kept) }, times)
    : afterFailure(server.health, { ...outcome, at, error: outcome.error.toWellFormed() }, times);
  const dueAt = dueAtOf(server, next.nextCheckAt);
  const changed = { ...server, health: next.health, ...(kept === undefined ? {} : { tools: kept.tools }) };
  const due = dueAt === undefined ? {} : { dueAt };
  const written = await ports.mcpServers.replace(changed, { version: server.version, ...due });
  if (written === undefined) return undefined;
  if (!outcome.ok) ports.telemetry.count('McpChecksFailed');
  if (shownStatus(written) !== shownStatus(server)) await sayStatus(ports, written);
  return { server: written, ...due };
};

const sayStatus = async (
  ports: PublishDeps & Deps<'sessions' | 'mcpServers'>,
  server: McpServer,
): Promise<void> => {
  const { project, name, health } = server;
  const status = shownStatus(server);
  if (status === 'disconnected') ports.telemetry.count('McpServersLost');
  ports.telemetry.info('the status of an MCP server changed', {
    event: 'mcp_status',
    project,
    name,
    status,
    failures: health.consecutiveFailures,
  });
  await publishMcpStatus(ports, project, { name, status });
};

export type Use = {
  readonly outcome: McpOutcome;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly times: CheckTimes;
};

/**
 * Records a turn's use of a server: it counts like a check, unless something newer is known, so that only one of
 * several calls that fail together counts. A success without news writes nothing.
 */
export const recordUse = async (
  ports: PublishDeps & Deps<'sessions' | 'mcpServers'>,
  used: McpServer,
  { outcome, startedAt, times }: Use,
): Promise<void> => {
  const server = await ports.mcpServers.get(used.project, used.name);
  if (server === undefined || isElsewhere(server.config, used.config)) return;
  if ((server.health.lastCheck ?? 0) >= startedAt || saysNothingNew(server, outcome)) return;
  await recordOutcome(ports, server, { outcome, times });
};

const saysNothingNew = ({ health, tools }: McpServer, outcome: McpOutcome): boolean => {
  if (!outcome.ok || health.status !== 'healthy') return false;
  if (outcome.tools === undefined) return true;
  return JSON.stringify(keepTools(outcome.tools).tools) === JSON.stringify(tools);
};
