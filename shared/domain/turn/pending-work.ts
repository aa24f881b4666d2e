/**
 * The outbox: what a turn's state still owes the world.
 *
 * Derived, never stored beside the state: a handler that dies leaves its successor the state, and with it
 * the same list under the same keys (T12). Performing an effect twice is safe because every receiver knows
 * its key. A call that was rejected or has ended is never in it (T11), nor one that somebody outside ends.
 */
import type { CallWait, ToolCall, TurnEffect, TurnState } from './turn.ts';

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
  args: call.args,
  ...(call.route === undefined ? {} : { route: call.route }),
  ...(call.generation === undefined ? {} : { generation: call.generation }),
});

/** The calls that somebody outside ends. */
export const waitingCalls = (state: TurnState): readonly (ToolCall & { readonly wait: CallWait })[] =>
  state.kind === 'acting'
    ? state.calls.flatMap((call) =>
        call.status === 'executing' && call.wait !== undefined ? [{ ...call, wait: call.wait }] : [],
      )
    : [];

/** When the first of them is over its time; undefined when none waits. */
export const firstDeadline = (state: TurnState): number | undefined => {
  const times = waitingCalls(state).map(({ wait }) => wait.until);
  return times.length === 0 ? undefined : Math.min(...times);
};
