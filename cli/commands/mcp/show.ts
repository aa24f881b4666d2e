/**
 * `mcp list` and `mcp info`: what is registered.
 *
 * Values of headers and variables may be secrets: shown to a person they are masked, unless they only name one.
 */
import type { Call } from '../../command.ts';
import { failure } from '../../failure.ts';
import type { HttpClient } from '../../http-client.ts';
import { factLines, tableLines } from '../../table.ts';
import { inProject, nameOf } from './address.ts';
import type { HealthReport } from './health.ts';

type Texts = Readonly<Record<string, string>>;
type Config = {
  readonly transport?: string;
  readonly enabled?: boolean;
  readonly description?: string;
  readonly toolPrefix?: string;
  readonly timeout?: number;
  readonly url?: string;
  readonly headers?: Texts;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Texts;
  readonly cwd?: string;
};
type Registered = Config & {
  readonly name: string;
  readonly status?: string;
  readonly config?: Config;
};

export const list = async (call: Call): Promise<undefined> => {
  const servers = await readServers(call, await call.client());
  call.output.result({ servers }, () =>
    servers.length === 0
      ? ['No MCP servers; add one with `sallyport mcp add`.']
      : tableLines(
          ['NAME', 'TRANSPORT', 'ENABLED', 'STATUS', 'TARGET'],
          servers.map((server) => {
            const { transport, enabled, url, command = '', args = [] } = configOf(server);
            const target = url ?? [command, ...args].join(' ');
            return [server.name, transport, enabled === false ? 'no' : 'yes', server.status, target];
          }),
        ),
  );
};

export const info = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const server = (await readServers(call, client)).find(({ name }) => name === nameOf(call));
  if (server === undefined)
    throw failure('mcp_server_not_found', `there is no MCP server '${nameOf(call)}'`, {
      suggestions: ['See what there is with `sallyport mcp list`.'],
    });
  const { mcps } = await client.get<HealthReport>(inProject(call, '/api/mcp/health'));
  const health = mcps.find(({ name }) => name === server.name);
  call.output.result({ ...server, ...(health === undefined ? {} : { health }) }, () => {
    const {
      transport,
      enabled,
      url,
      command,
      args = [],
      headers = {},
      env = {},
      description,
      toolPrefix,
      timeout,
      cwd,
    } = configOf(server);
    return factLines([
      ['name', server.name],
      ['description', description],
      ['transport', transport],
      ['enabled', enabled === false ? 'no' : 'yes'],
      ['tool prefix', toolPrefix],
      ['timeout ms', timeout],
      ['url', url],
      ['command', command === undefined ? undefined : [command, ...args].join(' ')],
      ['folder', cwd],
      ...Object.entries(headers).map(([key, value]) => [`header ${key}`, masked(value)] as const),
      ...Object.entries(env).map(([key, value]) => [`env ${key}`, masked(value)] as const),
      ['status', health?.status ?? server.status],
      ['last success', health?.lastSuccess],
      ['error', health?.error],
    ]);
  });
};

const readServers = async (call: Call, client: HttpClient): Promise<readonly Registered[]> =>
  (await client.get<{ servers: readonly Registered[] }>(inProject(call, '/api/mcp'))).servers;

const configOf = (server: Registered): Config => server.config ?? server;

/** `Bearer ${TOKEN}` names a secret and holds none. */
const masked = (value: string): string => (/^(?:\w+ )?\$\{\w+\}$/.test(value) ? value : '***');
