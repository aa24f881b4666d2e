/**
 * The tools that an MCP server lists, as far as they can be offered to a model.
 *
 * Nothing of a list is trusted: a tool with an odd name, a schema that is no object, or one that is too large or
 * too deep is left out, and the others stay. Long texts are cut.
 */
import * as z from 'zod';
import { isWithin, type JsonObject } from '#shared/domain/json.ts';
import type { McpTool } from '#shared/domain/mcp/server.ts';
import { cutMiddle } from '#shared/domain/text.ts';

/** More than are retained, so that those left out can be counted. */
export const listedToolsMax = 1000;
const descriptionCharactersMax = 4000;
/**
 * DynamoDB takes 32 levels in an item, of which the record around a schema needs some.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const schemaBounds = { bytesMax: 65_536, depthMax: 24 };
/** Names of tools: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names */
const namePattern = /^[A-Za-z0-9_./-]{1,128}$/;

const toolSchema = z.object({
  name: z.string().regex(namePattern),
  description: z.string().optional().catch(undefined),
  inputSchema: z.custom<JsonObject>(
    (schema) => isObject(schema) && schema['type'] === 'object' && isWithin(schema, schemaBounds),
  ),
});

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first tool of each name stays. */
export const decodeTools = (listed: readonly unknown[]): readonly McpTool[] => {
  const tools = new Map<string, McpTool>();
  for (const item of listed) {
    const { data } = toolSchema.safeParse(item);
    if (data === undefined || tools.has(data.name)) continue;
    if (tools.size === listedToolsMax) break;
    const { name, description, inputSchema } = data;
    const said =
      description === undefined ? {} : { description: cutMiddle(description, descriptionCharactersMax) };
    tools.set(name, { name, ...said, inputSchema });
  }
  return [...tools.values()];
};
