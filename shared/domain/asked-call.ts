/** A tool call as a model requested it: complete, with its arguments parsed and its destination. */
import type { CallId } from './ids.ts';
import type { JsonObject } from './json.ts';

/** An MCP server on the network, or one that runs in the sandbox. */
export type ServerRoute = {
  readonly kind: 'remote' | 'stdio';
  readonly server: string;
  /** The tool's name on the server. */
  readonly tool: string;
};

/** A client that offered the tool; it answers while none of our functions run. */
export type CallerRoute = { readonly kind: 'caller'; readonly caller: string; readonly tool: string };

/** The platform itself: the agent's sessions. */
export type PlatformRoute = { readonly kind: 'platform'; readonly tool: 'session' };

/** The destination of a call to a tool outside the sandbox, fixed when the model asks for it. */
export type ToolRoute = ServerRoute | CallerRoute | PlatformRoute;

/** A call of a model's answer, before it has its position in a turn. */
export type AskedCall = {
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly route?: ToolRoute;
};

/**
 * The identity by which a grant recognises a tool: tools of the same name but another origin are different. The
 * kind comes first and each part is quoted, so that no server, client or tool can be named to produce the text of
 * another.
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
