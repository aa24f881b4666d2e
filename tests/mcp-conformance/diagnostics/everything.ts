/** The server that the conformance suite asks for: its diagnostic tools, prompts and resources, and nothing of ours. */
import { McpServer } from '@modelcontextprotocol/server';
import { registerInputTools, stateCodec } from './input-tools.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { registerTools } from './tools.ts';

/** Nothing changes and nothing is announced, as at our own door. */
const capabilities = {
  tools: { listChanged: false },
  prompts: { listChanged: false },
  resources: { listChanged: false, subscribe: false },
  completions: {},
  logging: {},
};

export const everything = (): McpServer => {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1' },
    { capabilities, requestState: { verify: stateCodec.verify } },
  );
  registerTools(server);
  registerInputTools(server);
  registerPrompts(server);
  registerResources(server);
  return server;
};
