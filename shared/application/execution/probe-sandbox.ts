/**
 * Tries an MCP server that runs in sandboxes: starts it in an execution session of its own, lists its tools, and
 * ends the session again. It holds a slot of the owner during that time.
 */

import { decodeTools } from '../../contracts/tools/listed-tools.ts';
import type { SessionId } from '../../domain/ids.ts';
import { mcpInsideSeconds } from '../../domain/mcp/limits.ts';
import { type Texts, withoutSecrets } from '../../domain/mcp/secrets.ts';
import type { McpServer, StdioConfig } from '../../domain/mcp/server.ts';
import type { Principal } from '../../domain/principal.ts';
import { isAppError } from '../../errors.ts';
import type { Deps, ExecutionDeps } from '../deps.ts';
import type { McpOutcome } from '../registry/check-mcp-server.ts';
import { programOf } from '../registry/mcp-target.ts';
import type { SessionDefaults } from '../session/create-session.ts';
import { createSession } from '../session/create-session.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { execute } from './execute.ts';

export type InsideProbe = {
  readonly principal: Principal;
  readonly defaults: SessionDefaults;
};

type StdioServer = Pick<McpServer, 'project' | 'name'> & { readonly config: StdioConfig };

/** Every failure is the server's, worded without secrets. */
export const probeSandbox = async (
  ports: ExecutionDeps & Deps<'secrets'>,
  server: StdioServer,
  probe: InsideProbe,
): Promise<McpOutcome> => {
  let secrets: Texts = {};
  try {
    secrets = await ports.secrets.read(server.project);
    return await tryInside(ports, { ...server, secrets }, probe);
  } catch (error) {
    if (!isAppError(error))
      ports.telemetry.error('an MCP server could not be tried', { error, name: server.name });
    const said = isAppError(error) ? error.message : 'it could not be tried';
    return { ok: false, error: withoutSecrets(said, server.config, secrets) };
  }
};

const tryInside = async (
  ports: ExecutionDeps & Deps<'secrets'>,
  { secrets, ...server }: StdioServer & { readonly secrets: Texts },
  { principal, defaults }: InsideProbe,
): Promise<McpOutcome> => {
  const program = programOf(server, secrets);
  const id = ports.world.uuid() as SessionId;
  const options = { kind: 'execution', project: server.project } as const;
  const wait = { waitSeconds: 0, evictIdle: false };
  const session = await createSession(ports, { id, principal, options, defaults });
  if (session === undefined) throw new Error('a new session id was taken');
  try {
    const { structured } = await execute(ports, {
      principal,
      sessionId: session.id,
      options,
      defaults,
      wait,
      tool: 'mcp_list',
      argsFor: () => ({ server: program, timeout: mcpInsideSeconds }),
      timeoutSeconds: mcpInsideSeconds,
      onProgress: () => undefined,
    });
    const listed: unknown = structured['tools'];
    return Array.isArray(listed)
      ? { ok: true, tools: decodeTools(listed) }
      : { ok: false, error: 'its tools were not listed' };
  } finally {
    await endSession(ports, session, { reason: 'an MCP server was tried' });
  }
};
