/** Collects the results of running calls: commits each as it comes, until all have ended or the turn is interrupted. */

import type { LogEntry } from '../../../domain/event-log.ts';
import type { CallId } from '../../../domain/ids.ts';
import { withOwnMoney } from '../../../domain/session-tree.ts';
import { pendingWork } from '../../../domain/turn/pending-work.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import type { ToolResult, TurnState } from '../../../domain/turn/turn.ts';
import type { ToolProgress } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import type { TextRelay } from '../../events/text-relay.ts';
import { applyEvent } from '../commit/apply-event.ts';
import {
  type CommitOutcome,
  interrupted,
  reloadRunning,
  type TurnContext,
  type UsedSandbox,
} from '../commit/turn-context.ts';
import { checkpointAgain, livingSandbox } from './checkpoint-turn.ts';
import type { LazySandbox } from './lazy-sandbox.ts';

export type ToolWork = {
  readonly context: TurnContext;
  readonly correlationId: string;
  readonly lazySandbox: LazySandbox;
  readonly relay: TextRelay<`${CallId} ${ToolProgress['stream']}`>;
};

export const collectToolResults = async (
  ports: LoopDeps,
  work: ToolWork,
  running: Map<CallId, Promise<ToolResult>>,
): Promise<CommitOutcome> => {
  const { lazySandbox, relay } = work;
  const { monitor } = work.context;
  let outcome: CommitOutcome = { status: 'current', context: work.context };
  while (running.size > 0) {
    const { context }: CommitOutcome = outcome;
    const result = await Promise.race([...running.values(), untilAborted(monitor.signal)]);
    if (result === undefined) {
      if (monitor.interruption() !== 'moved') return interrupted(context);
      outcome = await reloadRunning(ports, context, [...running.keys()]);
    } else {
      running.delete(result.callId);
      await relay.flush();
      const event = withNotice(result, lazySandbox.takeNotice());
      outcome = await commitResult(ports, { ...work, context }, { event, others: [...running.keys()] });
    }
    if (outcome.status !== 'current') return outcome;
  }
  return outcome;
};

type Ended = { readonly event: ToolResult; readonly others: readonly CallId[] };

/** Committed on what another caller wrote concurrently, if the call and its neighbours still run there. */
const commitResult = async (
  ports: LoopDeps,
  { lazySandbox, ...work }: ToolWork,
  { event, others }: Ended,
): Promise<CommitOutcome> => {
  let { context } = work;
  const log = lazySandbox.takeLog();
  for (;;) {
    const { session, turn, limits } = context;
    const used = lazySandbox.current();
    const isLast = mayBeLast(reduce(turn.state, event, withOwnMoney(limits.turn, session)).state);
    const saved = isLast ? await saveLast(ports, context, used) : [];
    const next = used === undefined ? context : { ...context, used };
    const outcome = await applyEvent(ports, next, { event, log: [...log, ...saved] });
    if (outcome.status !== 'moved') return outcome;
    const reloaded = await reloadRunning(ports, context, [event.callId, ...others]);
    if (reloaded.status !== 'current') return reloaded;
    context = reloaded.context;
  }
};

/**
 * The model may not be asked again, where the workspace would be saved: the completion comes next, or an answer of a client
 * or a child that brings it.
 */
const mayBeLast = (state: TurnState): boolean =>
  state.kind === 'done' || (state.kind === 'acting' && pendingWork(state).length === 0);

/** An earlier holder may have run calls in the sandbox, and have left only delegated ones to this one. */
const saveLast = async (
  ports: LoopDeps,
  context: TurnContext,
  used: UsedSandbox | undefined,
): Promise<readonly LogEntry[]> => {
  const { sandbox } = used ?? (await livingSandbox(ports, context)) ?? {};
  return sandbox === undefined ? [] : checkpointAgain(ports, sandbox);
};

const untilAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** The notice of the sandbox comes before the result, as the model reads it. */
const withNotice = (event: ToolResult, notice: string | undefined): ToolResult => {
  if (notice === undefined) return event;
  return event.type === 'call-finished'
    ? { ...event, text: `${notice}\n${event.text}` }
    : { ...event, message: `${event.message} ${notice}` };
};
