/**
 * Tools that a client of a session offers to its agent. The agent sees `<callerId>_<tool>`; a client that offers
 * a name that is taken is refused.
 */

import type { ConnectionId } from './ids.ts';
import type { ToolSpec } from './model.ts';
import type { CallerRoute } from './requested-call.ts';
import type { Subscriber } from './subscriber.ts';
import { sandboxToolNames } from './tools.ts';

export type Caller = {
  readonly callerId: string;
  readonly tools: readonly ToolSpec[];
  /** The socket that offered it: once it is closed, calls get no answer. */
  readonly connectionId?: ConnectionId;
  /** Made by a program: it withdraws this offer, and none that came since. */
  readonly offer?: string;
};

/** An offer of nothing. That of a socket stays: calls that wait for it end with the socket. */
export const withdraws = ({ tools, connectionId }: Caller): boolean =>
  tools.length === 0 && connectionId === undefined;

/** Those that can answer: an offer outlives its socket where its close was not reported. */
export const openCallers = (
  callers: readonly Caller[],
  subscribers: readonly Subscriber[],
): readonly Caller[] =>
  callers.filter(
    ({ connectionId }) => connectionId === undefined || subscribers.some(({ id }) => id === connectionId),
  );

export const callersPerSessionMax = 8;
export const callerToolsMax = 64;
/** Bytes of one caller's tools as JSON. */
export const callerToolBytesMax = 100 * 1024;
/** An answer to a call from a sandbox, in bytes: it waits in the table. */
export const callerAnswerBytesMax = 256 * 1024;

type CallerOffer = {
  readonly tools: readonly ToolSpec[];
  readonly routes: ReadonlyMap<string, CallerRoute>;
};

/** Ordered by name, so that a model receives the same list again. */
export const offerCallerTools = (callers: readonly Caller[], taken: ReadonlySet<string>): CallerOffer => {
  const routes = new Map<string, CallerRoute>();
  const tools: ToolSpec[] = [];
  for (const caller of [...callers].sort(byId))
    for (const tool of caller.tools) {
      const { callerId } = caller;
      const name = seenName(caller, tool);
      if (taken.has(name) || routes.has(name)) continue;
      routes.set(name, { kind: 'caller', caller: callerId, tool: tool.name });
      tools.push({ ...tool, name });
    }
  return { tools, routes };
};

const seenName = ({ callerId }: Caller, { name }: ToolSpec): string => `${callerId}_${name}`;

/** The first name that the agent already has from the sandbox or from another caller. */
export const takenName = (caller: Caller, others: readonly Caller[]): string | undefined => {
  const named = others.flatMap((other) => other.tools.map((tool) => seenName(other, tool)));
  const taken = new Set([...sandboxToolNames, ...named]);
  return caller.tools.map((tool) => seenName(caller, tool)).find((name) => taken.has(name));
};

const byId = (one: Caller, other: Caller): number => (one.callerId < other.callerId ? -1 : 1);
