/**
 * `mcp`: the MCP servers whose tools the agents get.
 *
 * Values of headers and variables may be secrets: shown to a person they are masked, unless they only name one.
 */
import { type Call, type Command, given, pairs, wholeNumber } from '../command.ts';
import { failure, wrongUsage } from '../failure.ts';
import { type HttpClient, segment } from '../http-client.ts';
import { factLines, tableLines } from '../table.ts';

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
type Health = {
  readonly name: string;
  readonly status: string;
  readonly lastCheck?: string;
  readonly lastSuccess?: string;
  readonly consecutiveFailures?: number;
  readonly error?: string;
};
type HealthReport = {
  readonly summary: Readonly<Record<string, number>>;
  readonly mcps: readonly Health[];
};
type Tested = { readonly ok: boolean; readonly tools?: readonly unknown[]; readonly error?: unknown };

/** Of the project that was named, else of the token's own. */
const inProject = (call: Call, path: string): string => {
  const project = call.text('project');
  return project === undefined ? path : `${path}?project=${segment(project)}`;
};
const pathOf = (call: Call, suffix = ''): string =>
  inProject(call, `/api/mcp/${segment(nameOf(call))}${suffix}`);
const configOf = (server: Registered): Config => server.config ?? server;
const nameOf = ({ positionals }: Call): string => positionals[0] ?? '';

const wantedConfig = (call: Call) => {
  const [url, command] = [call.text('url'), call.text('command')];
  if ((url === undefined) === (command === undefined)) throw wrongUsage('give either --url or --command');
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
      env: pairs(call.list('env'), 'env'),
      cwd: call.text('cwd'),
      ...common,
    });
  const transport = call.text('transport') ?? 'http';
  return given({ transport, url, headers: pairs(call.list('header'), 'header'), ...common });
};

const add = async (call: Call): Promise<undefined> => {
  const body = { name: nameOf(call), config: wantedConfig(call) };
  const client = await call.client();
  const answer = await client.send<{ message: string }>('POST', inProject(call, '/api/mcp/add'), body);
  call.output.result(answer, () => []);
  if (!call.output.isJson) call.output.line(`${answer.message}: ${nameOf(call)}`);
};

const readServers = async (call: Call, client: HttpClient): Promise<readonly Registered[]> =>
  (await client.get<{ servers: readonly Registered[] }>(inProject(call, '/api/mcp'))).servers;

const list = async (call: Call): Promise<undefined> => {
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

const info = async (call: Call): Promise<undefined> => {
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

/** `Bearer ${TOKEN}` names a secret and holds none. */
export const masked = (value: string): string => (/^(?:\w+ )?\$\{\w+\}$/.test(value) ? value : '***');

const health = async (call: Call): Promise<undefined> => {
  const report = await (await call.client()).get<HealthReport>(inProject(call, '/api/mcp/health'));
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
      `A disconnected server is not checked any more: try it with \`sallyport mcp test ${lost.name}\`.`,
    );
};

const tested = async (call: Call): Promise<number> => {
  const answer = await (await call.client()).send<Tested>('POST', pathOf(call, '/test'));
  call.output.result(answer, () => [
    answer.ok
      ? `${nameOf(call)} answers, with ${counted(answer.tools)}${namesOf(answer.tools)}`
      : `${nameOf(call)} does not work: ${textOf(answer.error)}`,
  ]);
  return answer.ok ? 0 : 1;
};

const counted = ({ length }: readonly unknown[] = []): string =>
  length === 1 ? '1 tool' : `${length} tools`;

const namesOf = (tools: readonly unknown[] = []): string =>
  tools.length === 0 ? '.' : `: ${tools.map(textOf).join(', ')}.`;

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { name, message } = (value ?? {}) as { readonly name?: string; readonly message?: string };
  return name ?? message ?? JSON.stringify(value);
};

const change = (method: 'POST' | 'DELETE', suffix: string, done: string) => async (call: Call) => {
  const answer = await (await call.client()).send<object>(method, pathOf(call, suffix));
  call.output.result(answer, () => [`${done} ${nameOf(call)}.`]);
  return undefined;
};

const none = { min: 0, max: 0 };
const one = { min: 1, max: 1 };
const project = { project: { type: 'string' } } as const;
const ofProject = '[--project <id>]';
const listing = {
  usage: ofProject,
  summary: 'List the MCP servers of the agents',
  options: project,
  positionals: none,
  run: list,
};
const named = { usage: `<name> ${ofProject}`, options: project, positionals: one };

export const mcpCommands: readonly Command[] = [
  { name: 'mcp', ...listing },
  { name: 'mcp list', ...listing },
  {
    name: 'mcp add',
    usage: `<name> (--url <url> [--header k=v]… [--transport http|sse] | --command <c> [--arg a]… [--env k=v]… [--cwd <folder>]) [--prefix <p>] [--timeout <ms>] [--description <text>] ${ofProject}`,
    summary: 'Register an MCP server',
    details: [
      `\${NAME} in a header or variable stands for a secret of the project (\`sallyport secret set\`).`,
      'A URL must lead to a public address. A command runs inside the sandbox of each session, without network.',
    ],
    options: {
      url: { type: 'string' },
      header: { type: 'string', multiple: true },
      transport: { type: 'string' },
      command: { type: 'string' },
      arg: { type: 'string', multiple: true },
      env: { type: 'string', multiple: true },
      cwd: { type: 'string' },
      prefix: { type: 'string' },
      timeout: { type: 'string' },
      description: { type: 'string' },
      ...project,
    },
    positionals: one,
    run: add,
  },
  { name: 'mcp info', ...named, summary: 'Show one MCP server and its health', run: info },
  { name: 'mcp test', ...named, summary: 'Connect to an MCP server and list its tools', run: tested },
  {
    name: 'mcp enable',
    ...named,
    summary: 'Offer its tools again',
    run: change('POST', '/enable', 'Enabled'),
  },
  {
    name: 'mcp disable',
    ...named,
    summary: 'Offer its tools no more',
    run: change('POST', '/disable', 'Disabled'),
  },
  { name: 'mcp remove', ...named, summary: 'Remove an MCP server', run: change('DELETE', '', 'Removed') },
  {
    name: 'mcp health',
    usage: ofProject,
    summary: 'Show the health of all',
    options: project,
    positionals: none,
    run: health,
  },
];
