/** `mcp`: registers, changes and removes the MCP servers whose tools the agents get. */
import { api, type ServerConfig } from '#sdk/routes.ts';
import { type Call, type Command, given, pairs, wholeNumber } from '../command.ts';
import { wrongUsage } from '../failure.ts';
import { addressOf, health, info, inProject, list, nameOf, tested } from './mcp-servers.ts';

type ChangeRoute = typeof api.enableServer | typeof api.disableServer | typeof api.deleteServer;

const change = (route: ChangeRoute, done: string) => async (call: Call) => {
  const answer = await (await call.client()).request(route, addressOf(call));
  call.output.result(answer, () => [`${done} ${nameOf(call)}.`]);
  return undefined;
};

const add = async (call: Call): Promise<undefined> => {
  const body = { name: nameOf(call), config: configOf(call) };
  const client = await call.client();
  const answer = await client.request(api.addServer, { ...inProject(call), body });
  call.output.result(answer, () => []);
  if (!call.output.isJson) call.output.line(`${answer.message}: ${nameOf(call)}`);
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
      env: pairs(call.list('env'), 'env'),
      cwd: call.text('cwd'),
      ...common,
    });
  const transport = call.text('transport') ?? 'http';
  return given({ transport, url, headers: pairs(call.list('header'), 'header'), ...common });
};

const none = { min: 0, max: 0 };
const one = { min: 1, max: 1 };
const project = { project: { type: 'string' } } as const;
const ofProject = '[--project <id>]';
const listing = {
  usage: ofProject,
  summary: 'List MCP servers',
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
      `\${NAME} in a header or variable is replaced by that secret of the project (\`sallyport secret set\`).`,
      'A URL must resolve to a public address. A command runs inside the sandbox of each session, without network.',
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
    summary: 'Enable its tools',
    run: change(api.enableServer, 'Enabled'),
  },
  {
    name: 'mcp disable',
    ...named,
    summary: 'Disable its tools',
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
