/** `mcp`: the MCP servers whose tools the agents get. */
import { api } from '#sdk/routes.ts';
import type { Call, Command } from '../command.ts';
import { add } from './mcp/add.ts';
import { addressOf, nameOf } from './mcp/address.ts';
import { health, tested } from './mcp/health.ts';
import { info, list } from './mcp/show.ts';

type ChangeRoute = typeof api.enableServer | typeof api.disableServer | typeof api.deleteServer;

const change = (route: ChangeRoute, done: string) => async (call: Call) => {
  const answer = await (await call.client()).request(route, addressOf(call));
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
    run: change(api.enableServer, 'Enabled'),
  },
  {
    name: 'mcp disable',
    ...named,
    summary: 'Offer its tools no more',
    run: change(api.disableServer, 'Disabled'),
  },
  { name: 'mcp remove', ...named, summary: 'Remove an MCP server', run: change(api.deleteServer, 'Removed') },
  {
    name: 'mcp health',
    usage: ofProject,
    summary: 'Show the health of all',
    options: project,
    positionals: none,
    run: health,
  },
];
