/** A tool call as a model asked for it: whole, with its arguments parsed, and where it goes. */
import type { CallId } from './ids.ts';
import type { JsonObject } from './json.ts';

/**
 * Where a call goes that is none of the sandbox's own tools, fixed as it is asked: `remote` to an MCP server on
 * the network, `stdio` to one that runs in the sandbox.
 */
export type ToolRoute = {
  readonly kind: 'remote' | 'stdio';
  readonly server: string;
  /** As the server names it. */
  readonly tool: string;
};

export type AskedCall = {
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly route?: ToolRoute;
};

/** By which a human's "always" knows a tool again: another server's tool of the same name is another one. */
export const toolIdentity = ({ name, route }: Pick<AskedCall, 'name' | 'route'>): string =>
  route === undefined ? name : `${route.server}/${route.tool}`;
