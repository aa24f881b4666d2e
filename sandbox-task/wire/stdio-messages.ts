/**
 * The requests to an MCP server that runs on the user's side, over stdio, and the bounds of its answers.
 *
 * Its answers are untrusted twice: it is the user's program, and the runner that reads them has the
 * user's identity. The messages that carry it are in messages.ts.
 */
import type { JsonObject } from '#shared/domain/json.ts';

export type StdioServerConfig = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** In the workspace or the shared folder; the workspace when absent. */
  readonly cwd?: string | undefined;
};

export type StdioAsk =
  | { readonly type: 'list' }
  | { readonly type: 'call'; readonly tool: string; readonly arguments: JsonObject };

/** One request to one MCP server. */
export type StdioWork = { readonly server: StdioServerConfig; readonly ask: StdioAsk };

export type StdioBlock = { readonly mimeType: string; readonly bytes: number };

export const toolsMax = 500;
export const toolListBytesMax = 1_048_576;
export const serverNameCharactersMax = 64;
export const toolNameCharactersMax = 256;
export const toolDescriptionCharactersMax = 8192;
/** One more block may count the blocks that were left out. */
export const blocksMax = 100;
export const structuredBytesMax = 256 * 1024;
