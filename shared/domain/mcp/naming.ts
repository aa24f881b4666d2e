/**
 * Names under which a model is offered the tools of MCP servers, and the tool of a server that each name means.
 *
 * No two names are equal, none is a built-in tool's (N1), and each leads to exactly one tool (N2). Names follow
 * from what is registered, not from its order nor from the servers' health (N3, docs/spec/mcp-registry.md): a
 * conversation that has used a name finds it again when a server returns.
 */
import type { ToolSpec } from '../model.ts';
import { isBreakerOpen, shownStatus } from './health.ts';
import { offeredNameCharactersMax, toolPrefixCharactersMax } from './limits.ts';
import type { McpServer, McpTool, Namespacing } from './server.ts';

type ToolRoute = { readonly server: string; readonly tool: string };

export type UnavailableServer = {
  readonly name: string;
  /** `disabled`, `reconnecting` or `disconnected`. */
  readonly status: ReturnType<typeof shownStatus>;
  /** The names under which its tools are offered while it is healthy; none for a disabled server. */
  readonly tools: readonly string[];
  readonly error?: string;
};

export type NamedTools = {
  readonly tools: readonly ToolSpec[];
  /** Every offered name. */
  readonly routes: ReadonlyMap<string, ToolRoute>;
  readonly unavailable: readonly UnavailableServer[];
};

type Candidate = { readonly server: McpServer; readonly tool: McpTool; readonly requestedName: string };

export const nameTools = ({
  servers,
  builtIn,
  namespacing,
}: {
  readonly servers: readonly McpServer[];
  readonly builtIn: readonly string[];
  readonly namespacing: Namespacing;
}): NamedTools => {
  const ordered = [...servers].sort((one, other) => compare(one.name, other.name));
  const enabled = ordered.filter(({ isEnabled }) => isEnabled);
  const named = unique(wishes(enabled, builtIn, namespacing), builtIn);
  const offered = named.filter(([, { server }]) => isOffered(server));
  const namesOf = (wanted: McpServer): readonly string[] =>
    named.filter(([, { server }]) => server === wanted).map(([name]) => name);
  return {
    tools: offered.map(([name, candidate]) => specOf(name, candidate)),
    routes: new Map(
      offered.map(([name, { server, tool }]) => [name, { server: server.name, tool: tool.name }]),
    ),
    unavailable: ordered
      .filter((server) => !isReachable(server))
      .map((server) => ({
        name: server.name,
        status: shownStatus(server),
        tools: namesOf(server),
        ...(server.health.error === undefined ? {} : { error: server.health.error }),
      })),
  };
};

const isOffered = (server: McpServer): boolean =>
  server.isEnabled && !isBreakerOpen(server.health) && server.health.status !== 'disconnected';

/** A server that was never reached has no tools yet. */
const isReachable = (server: McpServer): boolean => isOffered(server) && server.tools !== undefined;

const specOf = (name: string, { server, tool }: Candidate): ToolSpec => ({
  name,
  description: tool.description ?? `${tool.name}, a tool of the MCP server ${server.name}`,
  inputSchema: tool.inputSchema,
});

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** The name each tool would have without a clash, in the order of servers and tools. */
const wishes = (
  servers: readonly McpServer[],
  builtIn: readonly string[],
  namespacing: Namespacing,
): readonly Candidate[] => {
  const prefixes = prefixesOf(servers);
  const bare = servers.flatMap((server) =>
    [...(server.tools ?? [])]
      .sort((one, other) => compare(one.name, other.name))
      .map((tool) => ({ server, tool, requestedName: fitting(tool.name) })),
  );
  const wanted = counted(bare.map(({ requestedName }) => requestedName));
  const clashes = ({ requestedName }: Candidate): boolean =>
    builtIn.includes(requestedName) || (wanted.get(requestedName) ?? 0) > 1;
  const hasMany = new Set(bare.map(({ server }) => server)).size > 1;
  const isAutomatic = hasMany || bare.some(({ requestedName }) => builtIn.includes(requestedName));
  const isPrefixed = { prefix: () => true, none: clashes, auto: () => isAutomatic }[namespacing];
  return bare.map((candidate) =>
    isPrefixed(candidate)
      ? { ...candidate, requestedName: fitting(`${prefixes.get(candidate.server)}_${candidate.tool.name}`) }
      : candidate,
  );
};

const fitting = (name: string): string =>
  (name.replace(/[^A-Za-z0-9_-]/gu, '_') || 'tool').slice(0, offeredNameCharactersMax);

const counted = (names: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

/** The first of two servers with one prefix, by name, gets it, and the next a number behind it. */
const prefixesOf = (ordered: readonly McpServer[]): ReadonlyMap<McpServer, string> => {
  const requested = ordered.map(({ name, config }) =>
    (config.toolPrefix ?? name).slice(0, toolPrefixCharactersMax),
  );
  const taken = new Set(requested);
  return new Map(
    ordered.map((server, index) => {
      const requestedName = requested[index] ?? '';
      if (requested.indexOf(requestedName) === index) return [server, requestedName];
      const numbered = firstFree(requestedName, { taken, charactersMax: toolPrefixCharactersMax, mark: '' });
      taken.add(numbered);
      return [server, numbered];
    }),
  );
};

/** A name that only one tool wants is its own; the others get theirs with a free number. */
const unique = (
  candidates: readonly Candidate[],
  builtIn: readonly string[],
): readonly (readonly [string, Candidate])[] => {
  const wanted = counted(candidates.map(({ requestedName }) => requestedName));
  const taken = new Set([...builtIn, ...wanted.keys()]);
  return candidates.map((candidate) => {
    const { requestedName } = candidate;
    if (wanted.get(requestedName) === 1 && !builtIn.includes(requestedName))
      return [requestedName, candidate];
    const name = firstFree(requestedName, { taken, charactersMax: offeredNameCharactersMax, mark: '_' });
    taken.add(name);
    return [name, candidate];
  });
};

type Room = { readonly taken: ReadonlySet<string>; readonly charactersMax: number; readonly mark: string };

/** `x2`, `x3` …: the number fits even where the name has the full length. */
const firstFree = (requestedName: string, { taken, charactersMax, mark }: Room): string => {
  for (let number = 2; ; number += 1) {
    const end = `${mark}${number}`;
    const name = `${requestedName.slice(0, charactersMax - end.length)}${end}`;
    if (!taken.has(name)) return name;
  }
};
