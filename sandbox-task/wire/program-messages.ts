/**
 * The messages to two kinds of user program: an interpreter, which runs one piece of code at a time over frames, and an
 * MCP server over stdio; and the bounds of their answers.
 *
 * Their answers are untrusted twice: they come from user code, and the runner that reads them has the user's identity.
 * The messages that carry them are in messages.ts.
 */
import type { JsonObject } from '#shared/domain/json.ts';

export type Language = 'python' | 'node';

export type InterpreterRequest = {
  readonly type: 'run';
  /** Counts the calls of this sandbox: the code's name in tracebacks. */
  readonly number: number;
  /** Written to stdout and stderr before the code's own output and after it. */
  readonly begin: string;
  readonly end: string;
};

export type InterpreterMessage =
  | { readonly type: 'ready' }
  /** The payload is what to show, or nothing when it is longer than may be shown. */
  | { readonly type: 'display'; readonly mimeType: string; readonly bytes: number }
  | { readonly type: 'done'; readonly exitCode: number; readonly errorLine: string | null };

/** The bound of one displayed thing, and of all of one call. */
export const displayBytesMax = 4 * 1_048_576;
export const displaysMax = 8;

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
