/** Tools of the conformance suite that answer at once, or with progress. */
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { audio, image, resource, text } from './contents.ts';

const stepMs = 50;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, stepMs));

/** Every keyword that a server could lose on the way to its client. */
const dialect = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  ...{ if: { required: ['contactMethod'] }, then: { required: ['phone'] }, else: { required: ['email'] } },
  additionalProperties: false,
};

export const registerTools = (server: McpServer): void => {
  const answers = (name: string, content: readonly object[]): void =>
    void server.registerTool(name, { description: name }, async () => ({ content: content as never[] }));
  answers('test_simple_text', [text('This is a simple text response for testing.')]);
  answers('test_image_content', [image]);
  answers('test_audio_content', [audio]);
  answers('test_embedded_resource', [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]);
  answers('test_multiple_content_types', [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]);
  answers('test_streaming_elicitation', [text('nothing had to be asked')]);
  server.registerTool('test_error_handling', { description: 'Fails.' }, async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Takes three steps.' },
    async ({ mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          });
        await pause();
      }
      return { content: [text('done')] };
    },
  );
  const logging = { description: 'Logs three lines.' };
  for (const name of ['test_logging_tool', 'test_tool_with_logging'])
    server.registerTool(name, logging, async ({ mcpReq }) => {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.log('info', line);
        await pause();
      }
      return { content: [text('logged')] };
    });
  const named = z.object({ name: z.string().meta({ 'x-mcp-header': 'Name' }) });
  server.registerTool(
    'test_custom_header',
    { description: 'Has an argument that is a header too.', inputSchema: named },
    async ({ name }) => ({ content: [text(name)] }),
  );
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(dialect) },
    async () => ({ content: [text('fine')] }),
  );
};
