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

/** A call of a model's answer, before it has its place in a turn. */
export type AskedCall = {
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly route?: ToolRoute;
};

/**
 * By which a grant knows a tool again: another's tool of the same name is another one. The kind comes first and each part
 * is quoted, so that no server, client or tool can be named to give the text of another.
 */
export const toolIdentity = ({ name, route }: Pick<AskedCall, 'name' | 'route'>): string => {
  if (route === undefined) return JSON.stringify(['sandbox', name]);
  switch (route.kind) {
    case 'platform':
      return JSON.stringify([route.kind, route.tool]);
    case 'caller':
      return JSON.stringify([route.kind, route.caller, route.tool]);
    case 'remote':
    case 'stdio':
      return JSON.stringify(['server', route.server, route.tool]);
  }
};
