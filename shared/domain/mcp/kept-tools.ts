/** The retained tools of a server: as it lists them, each name once, until their number or their bytes are used up. */
import { utf8Bytes } from '../text.ts';
import { mcpToolBytesMax, mcpToolsMax } from './limits.ts';
import type { McpTool } from './server.ts';

export type KeptTools = { readonly tools: readonly McpTool[]; readonly leftOut: number };

export const keepTools = (listed: readonly McpTool[]): KeptTools => {
  const tools: McpTool[] = [];
  const names = new Set<string>();
  // The brackets of the list.
  let bytes = 2;
  for (const tool of listed) {
    // The tool and its comma.
    const toolBytes = utf8Bytes(JSON.stringify(tool)) + 1;
    const hasRoom = tools.length < mcpToolsMax && bytes + toolBytes <= mcpToolBytesMax;
    if (!hasRoom || names.has(tool.name)) continue;
    names.add(tool.name);
    tools.push(tool);
    bytes += toolBytes;
  }
  return { tools, leftOut: listed.length - tools.length };
};

/** A note beside the health of a server that offers more than is retained. */
export const leftOutNote = ({ leftOut }: KeptTools): string | undefined =>
  leftOut === 0
    ? undefined
    : `${leftOut} of its tools are left out: at most ${mcpToolsMax} tools of different names and ${mcpToolBytesMax} bytes are kept`;
