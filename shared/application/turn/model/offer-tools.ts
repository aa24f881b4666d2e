/**
 * Offers tools to a session's agent: those of its sandbox and its processes, those of the healthy MCP servers of its project, and those of its
 * clients. A server that cannot be reached now is named to the model.
 */

import { agentProcessTool, sandboxToolSpecs } from '../../../contracts/tools/offered-tools.ts';
import { type Caller, offerCallerTools } from '../../../domain/caller-tool.ts';
import { shownStatus } from '../../../domain/mcp/health.ts';
import { nameTools, type UnavailableServer } from '../../../domain/mcp/naming.ts';
import type { McpServer } from '../../../domain/mcp/server.ts';
import type { ToolSpec } from '../../../domain/model.ts';
import type { ToolRoute } from '../../../domain/requested-call.ts';
import { isOffered, type Session } from '../../../domain/session.ts';
import { networkLine, sessionTool, systemPrompt } from '../../../domain/tools.ts';
import type { Deps } from '../../deps.ts';

export type Offer = {
  readonly tools: readonly ToolSpec[];
  readonly servers: readonly { readonly name: string; readonly status: ReturnType<typeof shownStatus> }[];
  readonly system: string;
  /** True for the name of one of `tools`. */
  readonly isOffered: (name: string) => boolean;
  /** Undefined for a tool of the sandbox, and for one that was not offered. */
  readonly routeOf: (name: string) => ToolRoute | undefined;
};

type OfferSession = Pick<
  Session,
  'project' | 'mcpNamespacing' | 'disabledTools' | 'allowedTools' | 'limits' | 'network'
>;

export const offerTools = async (
  { mcpServers, recursionDepthMax }: Deps<'mcpServers' | 'recursionDepthMax'>,
  session: OfferSession,
  callers: readonly Caller[],
): Promise<Offer> => {
  const { project, mcpNamespacing = 'auto' } = session;
  const servers = await mcpServers.list(project);
  const builtInTools = [...sandboxToolSpecs(), agentProcessTool()];
  const builtIn = [...builtInTools, sessionTool].map(({ name }) => name);
  const own = (session.limits?.recursionDepthMax ?? recursionDepthMax) > 0 ? [sessionTool] : [];
  const { tools, routes, unavailable } = nameTools({ servers, builtIn, namespacing: mcpNamespacing });
  const isEnabled = ({ name }: ToolSpec): boolean => isOffered(session, name);
  const ofCallers = offerCallerTools(callers, new Set([...builtIn, ...routes.keys()]));
  const isStdio = (name: string): boolean =>
    servers.some((server) => server.name === name && runsInSandbox(server));
  const offered = [...builtInTools, ...own, ...tools, ...ofCallers.tools].filter(isEnabled);
  const names = new Set(offered.map(({ name }) => name));
  return {
    tools: offered,
    isOffered: (name) => names.has(name),
    servers: servers.map((server) => ({ name: server.name, status: shownStatus(server) })),
    system: [systemPrompt, networkLine(session.network), ...unavailableLines(unavailable)].join('\n'),
    routeOf: (name) => {
      if (name === agentProcessTool().name) return { kind: 'platform', tool: 'process' };
      if (own.length > 0 && name === sessionTool.name) return { kind: 'platform', tool: 'session' };
      const route = routes.get(name);
      if (route === undefined) return ofCallers.routes.get(name);
      return { kind: isStdio(route.server) ? 'stdio' : 'remote', ...route };
    },
  };
};

const runsInSandbox = ({ config }: McpServer): boolean => config.transport === 'stdio';

const unavailableLines = (unavailable: readonly UnavailableServer[]): readonly string[] => {
  const named = unavailable
    .filter(({ status }) => status !== 'disabled')
    .map(({ name, status }) => `${name} (${status})`);
  return named.length === 0
    ? []
    : [`These MCP servers cannot be reached now, and their tools cannot be called: ${named.join(', ')}.`];
};
