/** A tool call as a model asked for it: whole, with its arguments parsed, and where it goes. */
import type { CallId } from './ids.ts';
import type { JsonObject } from './json.ts';

/** To an MCP server on the network, or to one that runs in the sandbox. */
export type ServerRoute = {
  readonly kind: 'remote' | 'stdio';
  readonly server: string;
  /** As the server names it. */
  readonly tool: string;
};

/** To a client that offered the tool; it answers with no function of ours running. */
export type CallerRoute = { readonly kind: 'caller'; readonly caller: string; readonly tool: string };

/** To the platform itself: the agent's sessions. */
export type PlatformRoute = { readonly kind: 'platform'; readonly tool: 'session' };

/** Where a call goes that is none of the sandbox's own tools, fixed as it is asked. */
export type ToolRoute = ServerRoute | CallerRoute | PlatformRoute;

export type AskedCall = {
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly route?: ToolRoute;
};

/** By which a human's "always" knows a tool again: another's tool of the same name is another one. */
export const toolIdentity = ({ name, route }: Pick<AskedCall, 'name' | 'route'>): string => {
  if (route === undefined || route.kind === 'platform') return name;
  return route.kind === 'caller' ? `caller/${route.caller}/${route.tool}` : `${route.server}/${route.tool}`;
};
