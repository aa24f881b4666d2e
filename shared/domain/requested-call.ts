/** A tool call as a model requested it: complete, with its arguments parsed and its destination. */
import type { CallId } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { AgentRuntime } from './runtime-name.ts';
import { cutMiddle } from './text.ts';

/** An MCP server on the network, or one that runs in the sandbox. */
export type ServerRoute = {
  readonly kind: 'remote' | 'stdio';
  readonly server: string;
  /** The tool's name on the server. */
  readonly tool: string;
};

/** A client that offered the tool; it answers while none of our functions run. */
export type CallerRoute = { readonly kind: 'caller'; readonly caller: string; readonly tool: string };

/** Tools that the platform performs itself; each has actions. */
export const platformTools = ['session', 'process'] as const;
export type PlatformTool = (typeof platformTools)[number];

/** The platform itself: the agent's sessions, and the processes of its sandbox. */
export type PlatformRoute = { readonly kind: 'platform'; readonly tool: PlatformTool };

/** A program of the sandbox that carries the turn and asks before it acts; it runs the call itself. */
export type RuntimeRoute = {
  readonly kind: 'runtime';
  readonly runtime: AgentRuntime;
  /** The program knows its question by it. */
  readonly question: string;
};

/** The destination of a call to a tool outside the sandbox, fixed when the model asks for it. */
export type ToolRoute = ServerRoute | CallerRoute | PlatformRoute | RuntimeRoute;

/** A call of a model's answer, before it has its position in a turn. */
export type RequestedCall = {
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly route?: ToolRoute;
};

const notJson = 'arguments_not_json';
const notWellFormed = 'arguments_not_well_formed';
const shownCharactersMax = 200;

/** Text that is no JSON object is stored as it is. */
export const argsNotJson = (text: string): JsonObject => ({ [notJson]: text });
/** JSON with half a surrogate pair has no digest: its text, in which that is an escape, is stored instead. */
export const argsNotWellFormed = (json: string): JsonObject => ({ [notWellFormed]: json });

/** The reason why no tool receives arguments as the model wrote them, for the model and the user. */
export const problemOfArgs = (args: JsonObject): string | undefined => {
  const [[key, text] = [], ...others] = Object.entries(args);
  if (others.length > 0 || typeof text !== 'string') return undefined;
  const shown = cutMiddle(text, shownCharactersMax);
  if (key === notWellFormed) return `the arguments have half of a character: ${shown}`;
  if (key !== notJson) return undefined;
  return `the arguments are not ${isJson(text) ? 'a JSON object' : 'valid JSON'}: ${shown}`;
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/**
 * The identity by which a grant recognises a tool: tools of the same name but another origin are different. The
 * kind comes first and each part is quoted, so that no server, client or tool can be named to produce the text of
 * another.
 */
export const toolIdentity = ({ name, route }: Pick<RequestedCall, 'name' | 'route'>): string => {
  if (route === undefined) return JSON.stringify(['sandbox', name]);
  switch (route.kind) {
    case 'platform':
      return JSON.stringify([route.kind, route.tool]);
    case 'runtime':
      return JSON.stringify([route.kind, route.runtime, name]);
    case 'caller':
      return JSON.stringify([route.kind, route.caller, route.tool]);
    case 'remote':
    case 'stdio':
      return JSON.stringify(['server', route.server, route.tool]);
  }
};
