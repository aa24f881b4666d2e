/**
 * Tools that a client of a session offers to its agent. The agent sees `<callerId>_<tool>`; who offers a name that is
 * taken does without.
 */
import type { CallerRoute } from './asked-call.ts';
import type { ConnectionId } from './ids.ts';
import type { ToolSpec } from './model.ts';

export type Caller = {
  readonly callerId: string;
  readonly tools: readonly ToolSpec[];
  /** The socket it came by: when that closes, nobody answers any more. */
  readonly connectionId?: ConnectionId;
};

export const callersPerSessionMax = 8;
export const callerToolsMax = 64;
/** Of one caller's tools as JSON, in bytes. */
export const callerToolBytesMax = 100 * 1024;
export const callerAnswerMs = 60_000;

export type CallerOffer = {
  readonly tools: readonly ToolSpec[];
  readonly routes: ReadonlyMap<string, CallerRoute>;
};

/** In an order that follows from the names, so that a model is told the same again. */
export const offerCallerTools = (callers: readonly Caller[], taken: ReadonlySet<string>): CallerOffer => {
  const routes = new Map<string, CallerRoute>();
  const tools: ToolSpec[] = [];
  for (const { callerId, tools: offered } of [...callers].sort(byId))
    for (const tool of offered) {
      const name = `${callerId}_${tool.name}`;
      if (taken.has(name) || routes.has(name)) continue;
      routes.set(name, { kind: 'caller', caller: callerId, tool: tool.name });
      tools.push({ ...tool, name });
    }
  return { tools, routes };
};

const byId = (one: Caller, other: Caller): number => (one.callerId < other.callerId ? -1 : 1);
