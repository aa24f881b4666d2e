/**
 * The outbox: the work that a turn's state still owes.
 *
 * Derived, never stored beside the state: a handler that dies leaves its successor the state, and with it
 * the same list under the same keys (T12). Performing an effect twice is safe because every receiver knows
 * its key. A call that was rejected or has ended is never in it (T11), nor one that a client or a child ends, nor one
 * that runs on in its sandbox while no function waits.
 */

import type { TurnId } from '../ids.ts';
import { detachedLookMs } from '../limits.ts';
import type { RuntimeWork } from '../runtime.ts';
import {
  type CallerWait,
  type CallWait,
  type ChildWait,
  remoteGeneration,
  type SandboxWait,
  type ToolCall,
} from './tool-call.ts';
import type { Deciding, ToolEffect, TrialEffect, TurnEffect, TurnState } from './turn.ts';
import { callToTry, waitingCall } from './waiting-call.ts';

export const pendingWork = (state: TurnState): readonly TurnEffect[] => {
  switch (state.kind) {
    case 'idle':
    case 'done':
      return [];
    case 'deciding':
      return trialOwed(state);
    case 'thinking':
      if (state.runtime !== undefined) return [driveRuntime(state.turnId, state.runtime)];
      return [{ type: 'call-model', key: `model:${state.turnId}:${state.step}`, step: state.step }];
    case 'acting':
      return state.calls
        .filter(
          (call) => call.status === 'approved' || (call.status === 'executing' && call.wait === undefined),
        )
        .map((call) => runTool(`tool:${state.turnId}:${state.step}:${call.callId}`, call));
  }
};

const driveRuntime = (turnId: TurnId, runtime: RuntimeWork): TurnEffect => ({
  type: 'drive-runtime',
  key: `runtime:${turnId}:${runtime.starts}:${runtime.taken}`,
  runtime,
});

const trialOwed = (state: Deciding): readonly TrialEffect[] => {
  const call = callToTry(state);
  if (call?.trial?.state !== 'due') return [];
  const { callId, name, args, trial } = call;
  const { session } = trial;
  const key = `trial:${state.turnId}:${state.step}:${callId}`;
  return [{ type: 'try-call', key, callId, name, args, ...(session === undefined ? {} : { session }) }];
};

const runTool = (key: string, call: ToolCall): ToolEffect => ({
  type: 'run-tool',
  key,
  callId: call.callId,
  name: call.name,
  // AP6: the arguments that were approved.
  args: call.edited?.args ?? call.args,
  ...(call.route === undefined ? {} : { route: call.route }),
  ...(call.generation === undefined ? {} : { generation: call.generation }),
  ...(call.trial?.state === 'tried' ? { tried: call.trial } : {}),
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
  waiting(state, (wait): wait is CallerWait => 'until' in wait);

/** The calls that children end. */
export const callsWithChildren = (state: TurnState): readonly Waiting<ChildWait>[] =>
  waiting(state, (wait): wait is ChildWait => 'child' in wait);

/** The calls that run in a sandbox, whether a function waits for them or not. */
export const runningCalls = (state: TurnState): readonly ToolEffect[] => [
  ...pendingWork(state).filter(
    (effect): effect is ToolEffect => effect.type === 'run-tool' && effect.generation !== undefined,
  ),
  ...detachedCalls(state),
];

export type DetachedCall = ToolEffect & { readonly wait: SandboxWait };

/** The name of a turn in the sandbox that carries it: of one start. */
export const runtimeTurnOf = (turnId: TurnId, { starts }: RuntimeWork): string => `${turnId}.${starts}`;

const runtimeKey = 'agent:';

/**
 * The work that goes on in the sandbox for a turn that is over: its calls, and the program that carries it. The function that holds
 * the turn kills the calls that it waits for itself.
 */
export const killsOf = (state: TurnState, isHeld: boolean): readonly string[] => [
  ...(isHeld ? detachedCalls(state) : runningCalls(state))
    .filter(({ generation }) => generation !== remoteGeneration)
    .map(({ key }) => key),
  ...('runtime' in state && state.runtime?.generation !== undefined
    ? [runtimeKey + runtimeTurnOf(state.turnId, state.runtime)]
    : []),
];

/** Undefined for a call. */
export const carriedTurnOf = (key: string): string | undefined =>
  key.startsWith(runtimeKey) ? key.slice(runtimeKey.length) : undefined;

/** The calls that run on in their sandbox while no function waits. */
export const detachedCalls = (state: TurnState): readonly DetachedCall[] =>
  waiting(state, (wait): wait is SandboxWait => 'endsBy' in wait).map((call) => ({
    ...runTool(call.wait.id, call),
    wait: call.wait,
  }));

/** When the first call of a client is over its time; undefined when none waits. */
export const firstDeadline = (state: TurnState): number | undefined => {
  const times = callsWithCallers(state).map(({ wait }) => wait.until);
  return times.length === 0 ? undefined : Math.min(...times);
};

/** True while only a person can move the turn, and nothing in the sandbox waits with it. */
export const isWaitingAlone = (state: TurnState): boolean =>
  waitingCall(state) !== undefined && !('runtime' in state && state.runtime !== undefined);

const childLookMsMin = 60_000;
const childLookMsMax = 600_000;

/** When a turn or its idle session is looked at again without a message; a call of a client is, when its time is over. */
export type IdleTimes = { readonly idleMs: number; readonly waitStopMs: number };

/** With a session's own idle limit, where it has one. */
export const idleTimesOf = (
  { idleMs }: { readonly idleMs?: number | undefined },
  times: IdleTimes,
): IdleTimes => ({
  idleMs: idleMs ?? times.idleMs,
  waitStopMs: times.waitStopMs,
});

export const nextLook = (state: TurnState, at: number, { idleMs, waitStopMs }: IdleTimes): number =>
  Math.min(
    ...[
      at + idleMs,
      isWaitingAlone(state) ? at + waitStopMs : undefined,
      firstDeadline(state),
      nextChildLook(state, at),
      nextSandboxLook(state, at),
    ].filter((time) => time !== undefined),
  );

/** At the janitor's next sweep: a minute and this are the longest time for which the end of such a call is not seen. */
const nextSandboxLook = (state: TurnState, at: number): number | undefined =>
  detachedCalls(state).length === 0 ? undefined : at + detachedLookMs;

/**
 * When a parent looks whether a child has ended unheard: rarer the longer it works. A child that ends notifies its parent;
 * this is for one that died before it could.
 */
export const nextChildLook = (state: TurnState, at: number): number | undefined => {
  const ages = callsWithChildren(state).map(({ wait }) => at - wait.since);
  if (ages.length === 0) return undefined;
  return at + Math.min(childLookMsMax, Math.max(childLookMsMin, Math.round(Math.min(...ages) / 2)));
};
