/**
 * `mcp list` and `mcp info`: what is registered.
 *
 * Values of headers and variables may be secrets: shown to a person they are masked, unless they only name one.
 */
import { api, type McpServer } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import type { Call } from '../../command.ts';
import { failure } from '../../failure.ts';
import { factLines, tableLines } from '../../table.ts';
import { inProject, nameOf } from './address.ts';

export const list = async (call: Call): Promise<undefined> => {
  const servers = await readServers(call, await call.client());
  call.output.result({ servers }, () =>
    servers.length === 0
      ? ['No MCP servers; add one with `sallyport mcp add`.']
      : tableLines(
          ['NAME', 'TRANSPORT', 'ENABLED', 'STATUS', 'TARGET'],
          servers.map((server) => {
            const { transport, enabled, url, command = '', args = [] } = server.config;
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
  const { mcps } = await client.request(api.serverHealth, inProject(call));
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
    } = server.config;
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

const readServers = async (call: Call, client: Sallyport): Promise<readonly McpServer[]> =>
  (await client.request(api.listServers, inProject(call))).servers;

/** `Bearer ${TOKEN}` names a secret and holds none. */
const masked = (value: string): string => (/^(?:\w+ )?\$\{\w+\}$/.test(value) ? value : '***');
