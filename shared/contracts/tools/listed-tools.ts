/**
 * The tools that an MCP server lists, as far as they can be offered to a model.
 *
 * Nothing of a list is trusted: a tool with an odd name, a schema that is no object, or one that is too large or
 * too deep is left out, and the others stay. Long texts are cut. Half of a surrogate pair would have each request refused.
 */

import * as z from 'zod';
import { isWellFormed, isWithin, type JsonObject } from '#shared/domain/json.ts';
import type { McpTool } from '#shared/domain/mcp/server.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import { schemaDepthMax, toolDescriptionCharactersMax } from '../fields.ts';

/** More than are retained, so that those left out can be counted. */
export const listedToolsMax = 1000;
const schemaBounds = { bytesMax: 65_536, depthMax: schemaDepthMax };
/** Names of tools: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names */
const namePattern = /^[A-Za-z0-9_./-]{1,128}$/;

const toolSchema = z.object({
  name: z.string().regex(namePattern),
  description: z.string().optional().catch(undefined),
  inputSchema: z.custom<JsonObject>(
    (schema) =>
      isObject(schema) &&
      schema['type'] === 'object' &&
      isWithin(schema, schemaBounds) &&
      isWellFormed(schema),
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
      description === undefined
        ? {}
        : { description: cutMiddle(description.toWellFormed(), toolDescriptionCharactersMax) };
    tools.set(name, { name, ...said, inputSchema });
  }
  return [...tools.values()];
};
