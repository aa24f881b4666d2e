/**
 * `mcp`: registers, shows, tests, changes and removes the MCP servers whose tools the agents get.
 *
 * Values of headers and variables may be secrets, so they are masked unless they only name one.
 */
import { api, type McpServer, type ServerConfig } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import {
  type Call,
  type Command,
  deleted,
  given,
  idOf,
  listing,
  none,
  oneName,
  pairsOf,
  value,
  values,
  wholeNumber,
} from '../runtime/command.ts';
import { failure, wrongUsage } from '../runtime/failure.ts';
import { factLines, tableLines } from '../runtime/output.ts';

const list = async (call: Call): Promise<undefined> => {
  const servers = await readServers(call, await call.client());
  call.output.result({ servers }, () =>
    tableLines(
      ['NAME', 'TRANSPORT', 'ENABLED', 'STATUS', 'TARGET'],
      servers.map((server) => {
        const { transport, enabled, url, command = '', args = [] } = server.config;
        const target = url ?? [command, ...args].join(' ');
        return [server.name, transport, enabled === false ? 'no' : 'yes', server.status, target];
      }),
      'No MCP servers; add one with `sallyport mcp add`.',
    ),
  );
};

const info = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const server = (await readServers(call, client)).find(({ name }) => name === idOf(call));
  if (server === undefined)
    throw failure('mcp_server_not_found', `MCP server '${idOf(call)}' not found`, {
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
      ['warning', server.warning],
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

const inProject = (call: Call) => ({ query: { project: call.text('project') } });
const addressOf = (call: Call) => ({ params: { name: idOf(call) }, ...inProject(call) });

const health = async (call: Call): Promise<undefined> => {
  const report = await call.request(api.serverHealth, inProject(call));
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

const tested = async (call: Call): Promise<number> => {
  const answer = await call.request(api.testServer, addressOf(call));
  call.output.result(answer, () => [
    answer.ok
      ? `${idOf(call)} works, with ${countOf(answer.tools)}${namesOf(answer.tools)}`
      : `${idOf(call)} does not work: ${answer.error}`,
    ...(answer.ok ? [] : [adviceOn(answer.httpStatus, idOf(call))]),
  ]);
  return answer.ok ? 0 : 1;
};

const adviceOn = (httpStatus: number | undefined, name: string): string =>
  httpStatus === 401 || httpStatus === 403
    ? unauthorized(name)
    : `  \`sallyport mcp info ${name}\` shows its configuration. To change it, remove the server and add it again.`;

/** No program of ours signs in to a server by OAuth. */
const unauthorized = (name: string): string =>
  `  It refused the credentials, or wants some. If its header names a secret that has expired (\`sallyport mcp info ${name}\`), set that anew: \`sallyport secret set\`. Otherwise remove it with \`sallyport mcp remove\`, and add it again with a token of that service, \`--header Authorization=…\`. A sign-in (OAuth) is not supported.`;

const countOf = ({ length }: readonly unknown[] = []): string =>
  length === 1 ? '1 tool' : `${length} tools`;

const namesOf = (tools: readonly { readonly name: string }[] = []): string =>
  tools.length === 0 ? '.' : `: ${tools.map(({ name }) => name).join(', ')}.`;

type ChangeRoute = typeof api.enableServer | typeof api.disableServer | typeof api.deleteServer;

const change = (route: ChangeRoute, done: string) => async (call: Call) => {
  const answer = await call.request(route, addressOf(call));
  call.output.result(deleted(answer, { name: idOf(call) }), () => [`${done} ${idOf(call)}.`]);
  return undefined;
};

const add = async (call: Call): Promise<undefined> => {
  const body = { name: idOf(call), config: configOf(call) };
  const answer = await call.request(api.addServer, { ...inProject(call), body });
  call.output.result(answer, () => []);
  if (call.output.isJson) return;
  call.output.line(`${answer.message}: ${idOf(call)}`);
  if (answer.warning !== undefined) call.output.note(`Warning: ${answer.warning}`);
};

const configOf = (call: Call): ServerConfig => {
  const [url, command] = [call.text('url'), call.text('command')];
  if ((url === undefined) === (command === undefined))
    throw wrongUsage('either --url or --command is required');
  const common = {
    description: call.text('description'),
    toolPrefix: call.text('prefix'),
    timeout: wholeNumber(call.text('timeout'), 'timeout'),
  };
  if (command !== undefined)
    return given({
      transport: 'stdio',
      command,
      args: call.list('arg'),
      env: pairsOf(call.list('env'), '=', 'env'),
      cwd: call.text('cwd'),
      ...common,
    });
  const transport = call.text('transport') ?? 'http';
  return given({ transport, url, headers: pairsOf(call.list('header'), '=', 'header'), ...common });
};

const project = { project: value } as const;
const ofProject = '[--project <id>]';
const named = { usage: `<name> ${ofProject}`, options: project, positionals: oneName };

export const mcpCommands: readonly Command[] = [
  ...listing('mcp', {
    usage: ofProject,
    summary: 'List MCP servers',
    options: project,
    positionals: none,
    run: list,
  }),
  {
    name: 'mcp add',
    usage: `<name> (--url <url> [--header k=v]… [--transport http|sse] | --command <c> [--arg a]… [--env k=v]… [--cwd <folder>]) [--prefix <p>] [--timeout <ms>] [--description <text>] ${ofProject}`,
    summary: 'Register an MCP server',
    details: [
      `\${NAME} in a header or variable is replaced by that secret of the project (\`sallyport secret set\`).`,
      'A URL must resolve to a public address. A command runs inside the sandbox of each session, with its network.',
    ],
    options: {
      url: value,
      header: values,
      transport: value,
      command: value,
      arg: values,
      env: values,
      cwd: value,
      prefix: value,
      timeout: value,
      description: value,
      ...project,
    },
    positionals: oneName,
    run: add,
  },
  { name: 'mcp info', ...named, summary: 'Show one MCP server and its health', run: info },
  { name: 'mcp test', ...named, summary: 'Connect to an MCP server and list its tools', run: tested },
  {
    name: 'mcp enable',
    ...named,
    summary: 'Enable an MCP server: agents get its tools',
    run: change(api.enableServer, 'Enabled'),
  },
  {
    name: 'mcp disable',
    ...named,
    summary: 'Disable an MCP server: agents do not get its tools',
    run: change(api.disableServer, 'Disabled'),
  },
  { name: 'mcp remove', ...named, summary: 'Remove an MCP server', run: change(api.deleteServer, 'Removed') },
  {
    name: 'mcp health',
    usage: ofProject,
    summary: 'Show the health of all MCP servers',
    options: project,
    positionals: none,
    run: health,
  },
];
