/**
 * `mcp list`, `mcp info`, `mcp health` and `mcp test`: the registered MCP servers and their health.
 *
 * Values of headers and variables may be secrets, so they are masked unless they only name one.
 */

import { api, type McpServer } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import type { Call } from '../command.ts';
import { failure } from '../failure.ts';
import { factLines, tableLines } from '../output.ts';

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
    throw failure('mcp_server_not_found', `MCP server '${nameOf(call)}' not found`, {
      suggestions: ['List the servers with `sallyport mcp list`.'],
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

/** `Bearer ${TOKEN}` names a secret and is shown. */
const masked = (value: string): string => (/^(?:\w+ )?\$\{\w+\}$/.test(value) ? value : '***');

export const nameOf = ({ positionals }: Call): string => positionals[0] ?? '';
export const inProject = (call: Call) => ({ query: { project: call.text('project') } });
export const addressOf = (call: Call) => ({ params: { name: nameOf(call) }, ...inProject(call) });

export const health = async (call: Call): Promise<undefined> => {
  const report = await (await call.client()).request(api.serverHealth, inProject(call));
  call.output.result(report, () => [
    Object.entries(report.summary)
      .map(([state, count]) => `${count} ${state}`)
      .join(', '),
    ...(report.mcps.length === 0
      ? []
      : tableLines(
          ['NAME', 'STATUS', 'FAILURES', 'LAST CHECK', 'ERROR'],
          report.mcps.map((one) => [one.name, one.status, one.consecutiveFailures, one.lastCheck, one.error]),
        )),
  ]);
  const lost = report.mcps.find(({ status }) => status === 'disconnected');
  if (lost !== undefined && !call.output.isJson)
    call.output.note(
      `A disconnected server is no longer checked: test it with \`sallyport mcp test ${lost.name}\`.`,
    );
};

export const tested = async (call: Call): Promise<number> => {
  const answer = await (await call.client()).request(api.testServer, addressOf(call));
  call.output.result(answer, () => [
    answer.ok
      ? `${nameOf(call)} works, with ${countOf(answer.tools)}${namesOf(answer.tools)}`
      : `${nameOf(call)} does not work: ${answer.error}`,
  ]);
  return answer.ok ? 0 : 1;
};

const countOf = ({ length }: readonly unknown[] = []): string =>
  length === 1 ? '1 tool' : `${length} tools`;

const namesOf = (tools: readonly { readonly name: string }[] = []): string =>
  tools.length === 0 ? '.' : `: ${tools.map(({ name }) => name).join(', ')}.`;
