/** `mcp add`: an MCP server is registered, one at a URL or one that a command starts. */
import { api, type ServerConfig } from '#sdk/routes.ts';
import { type Call, given, pairs, wholeNumber } from '../../command.ts';
import { wrongUsage } from '../../failure.ts';
import { inProject, nameOf } from './address.ts';

export const add = async (call: Call): Promise<undefined> => {
  const body = { name: nameOf(call), config: wantedConfig(call) };
  const client = await call.client();
  const answer = await client.request(api.addServer, { ...inProject(call), body });
  call.output.result(answer, () => []);
  if (!call.output.isJson) call.output.line(`${answer.message}: ${nameOf(call)}`);
};

const wantedConfig = (call: Call): ServerConfig => {
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
