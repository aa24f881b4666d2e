/**
 * The outbox: the work that a turn's state still owes.
 *
 * Derived, never stored beside the state: a handler that dies leaves its successor the state, and with it
 * the same list under the same keys (T12). Performing an effect twice is safe because every receiver knows
 * its key. A call that was rejected or has ended is never in it (T11), nor one that a client or a child ends.
 */
import type { CallerWait, CallWait, ChildWait, ToolCall, TurnEffect, TurnState } from './turn.ts';

export const pendingWork = (state: TurnState): readonly TurnEffect[] => {
  switch (state.kind) {
    case 'idle':
    case 'deciding':
    case 'done':
      return [];
    case 'thinking':
      return [{ type: 'call-model', key: `model:${state.turnId}:${state.step}`, step: state.step }];
    case 'acting':
      return state.calls
        .filter(
          (call) => call.status === 'approved' || (call.status === 'executing' && call.wait === undefined),
        )
        .map((call) => runTool(`tool:${state.turnId}:${state.step}:${call.callId}`, call));
  }
};

const runTool = (key: string, call: ToolCall): TurnEffect => ({
  type: 'run-tool',
  key,
  callId: call.callId,
  name: call.name,
  // AP6: the arguments that were approved.
  args: call.edited?.args ?? call.args,
  ...(call.route === undefined ? {} : { route: call.route }),
  ...(call.generation === undefined ? {} : { generation: call.generation }),
});

type Waiting<Wait extends CallWait> = ToolCall & { readonly wait: Wait };

const waiting = <Wait extends CallWait>(
  state: TurnState,
  isIt: (wait: CallWait) => wait is Wait,
): readonly Waiting<Wait>[] =>
  state.kind === 'acting'
    ? state.calls.flatMap(({ wait, ...call }) =>
        call.status === 'executing' && wait !== undefined && isIt(wait) ? [{ ...call, wait }] : [],
      )
    : [];

/** The calls that clients end. */
export const callsWithCallers = (state: TurnState): readonly Waiting<CallerWait>[] =>
  waiting(state, (wait): wait is CallerWait => !('child' in wait));

/** The calls that children end. */
export const callsWithChildren = (state: TurnState): readonly Waiting<ChildWait>[] =>
  waiting(state, (wait): wait is ChildWait => 'child' in wait);

/** When the first call of a client is over its time; undefined when none waits. */
export const firstDeadline = (state: TurnState): number | undefined => {
  const times = callsWithCallers(state).map(({ wait }) => wait.until);
  return times.length === 0 ? undefined : Math.min(...times);
};

const childLookMsMin = 60_000;
const childLookMsMax = 600_000;

/** When a turn or its idle session is looked at again without a message; a call of a client is, when its time is over. */
export const nextLook = (state: TurnState, at: number, { idleMs }: { readonly idleMs: number }): number =>
  Math.min(
    ...[at + idleMs, firstDeadline(state), nextChildLook(state, at)].filter((time) => time !== undefined),
  );

/**
 * When a parent looks whether a child has ended unheard: rarer the longer it works. A child that ends notifies its parent;
 * this is for one that died before it could.
 */
export const nextChildLook = (state: TurnState, at: number): number | undefined => {
  const ages = callsWithChildren(state).map(({ wait }) => at - wait.since);
  if (ages.length === 0) return undefined;
  return at + Math.min(childLookMsMax, Math.max(childLookMsMin, Math.round(Math.min(...ages) / 2)));
};
