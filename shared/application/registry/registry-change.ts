/**
 * The common steps of every change of the registry of MCP servers: the project is resolved and the address
 * checked first; then the change is audited, published to the project's sessions, and followed by a check of the
 * server.
 */

import { type Intent, projectOf } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { dueAtOf, type shownStatus } from '../../domain/mcp/health.ts';
import { secretsInSandbox } from '../../domain/mcp/secrets.ts';
import type { McpServer, McpServerConfig } from '../../domain/mcp/server.ts';
import { isServerName, type Validated } from '../../domain/mcp/validate.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import { isConversation } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import { audit } from '../access/audit.ts';
import { findProject } from '../access/find-project.ts';
import type { Deps, PublishDeps, RegistryChangeDeps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';

export type RegistryRequest = {
  readonly principal: Principal;
  /** Absent: the principal's own, else the default one. */
  readonly project?: string | undefined;
};

/** The project of a request, if it may be read or changed. */
export const projectOfRequest = async (
  { projects }: Deps<'projects'>,
  { principal, project }: RegistryRequest,
  intent: Intent,
): Promise<ProjectId> => {
  const id = project ?? projectOf(principal.scope) ?? defaultProject;
  return (await findProject(projects, { id, principal, intent })).id;
};

export const mcpServerNotFound = (): AppError =>
  new AppError('mcp_server_not_found', 'there is no such MCP server', {
    suggestions: ['List the MCP servers of the project.'],
  });

/** A name that no server can have is not looked up: no key is built from it. */
export const requireName = (name: string): void => {
  if (!isServerName(name)) throw mcpServerNotFound();
};

export const valid = <T>(result: Validated<T>): T => {
  if (result.ok) return result.value;
  throw new AppError('invalid_request', result.problem);
};

/** A URL's address is checked before it is written, and again whenever it is used. */
export const checkAddress = async (
  { addressGuard }: Deps<'addressGuard'>,
  config: McpServerConfig,
): Promise<void> => {
  if (config.transport !== 'stdio') await addressGuard.check(config.url);
};

type Change = { readonly server: McpServer; readonly action: string; readonly status: McpStatus };

/**
 * A lost invocation costs a minute: the server is due, and a sweep finds it. One that runs in sandboxes is never
 * due, and is tried when nothing is known of it.
 */
export const announce = async (
  ports: RegistryChangeDeps,
  { principal }: RegistryRequest,
  { server, action, status }: Change,
): Promise<void> => {
  const { project, name, config } = server;
  const secrets = secretsInSandbox(config);
  const detail = secrets.length === 0 ? {} : { secretsInSandbox: [...secrets] };
  await audit(ports, principal, { action, subject: `${project}/${name}`, project, detail });
  await publishMcpStatus(ports, project, { name, status });
  const isUnknown = server.isEnabled && server.tools === undefined;
  if (status === 'removed' || !(isUnknown || dueAtOf(server, 0) !== undefined)) return;
  try {
    await ports.invoker.checkMcpServer(project, name);
  } catch (error) {
    ports.telemetry.warn('a check of an MCP server was not started', { error, project, name });
  }
};

/** Sessions that are told of one change. */
const toldSessionsMax = 20;

export type McpStatus = ReturnType<typeof shownStatus> | 'removed';

/**
 * The newest agent sessions of a project are told, in their logs and at their subscribers. A project may have thousands that rest: older
 * ones learn it with their next turn, which reads the servers. The change itself has been made: a status that cannot be published is
 * logged, and never undoes it.
 */
export const publishMcpStatus = async (
  ports: PublishDeps & Deps<'sessions'>,
  project: ProjectId,
  { name, status }: { readonly name: string; readonly status: McpStatus },
): Promise<void> => {
  const entry = { type: 'system', data: { kind: 'mcp_status', name, status } } as const;
  try {
    const { sessions } = await ports.sessions.listOfProject(project, { itemsMax: toldSessionsMax });
    const told = sessions.filter(isConversation);
    await Promise.all(told.map(({ id }) => appendAndPublish(ports, id, [entry])));
  } catch (error) {
    ports.telemetry.warn('the status of an MCP server was not published', { error, project, name, status });
  }
};
