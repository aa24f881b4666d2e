/**
 * Collects the results of running calls: commits each as it comes, until all have ended or are detached, or the turn is
 * interrupted.
 */

import { notSavedEntry } from '../../../contracts/sandbox-start.ts';
import type { CallId } from '../../../domain/ids.ts';
import type { Losses } from '../../../domain/losses.ts';
import { withOwnMoney } from '../../../domain/session-tree.ts';
import { turnOf } from '../../../domain/turn/begin-turn.ts';
import { detachedCalls, pendingWork } from '../../../domain/turn/pending-work.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import { remoteGeneration } from '../../../domain/turn/tool-call.ts';
import type { TurnEffect, TurnState } from '../../../domain/turn/turn.ts';
import type { ToolProgress } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import type { TextBatches } from '../../events/text-batches.ts';
import { recordLossNotice } from '../../sandbox/record-loss-notice.ts';
import { unlessAborted, untilAborted } from '../../wait-unless-aborted.ts';
import { type Applied, applyEvent } from '../commit/apply-event.ts';
import {
  type CommitOutcome,
  interrupted,
  reloadRunning,
  type TurnContext,
  type UsedSandbox,
} from '../holder/turn-context.ts';
import { checkpointAgain, type SavedAgain, usedBefore } from './checkpoint-turn.ts';
import { isDelegated } from './delegate-calls.ts';
import type { LazySandbox } from './lazy-sandbox.ts';
import type { CallStep, ToolTimes } from './run-call-once.ts';

export type ToolWork = {
  readonly context: TurnContext;
  readonly lazySandbox: LazySandbox;
  readonly toolTimes: ToolTimes;
  readonly relay: TextBatches<`${CallId} ${ToolProgress['stream']}`>;
};

export const collectToolResults = async (
  ports: LoopDeps,
  work: ToolWork,
  running: Map<CallId, Promise<CallStep>>,
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
      if (result.type === 'call-detached' && isDetached(context, result.callId)) continue;
      void relay.flush();
      const losses = lazySandbox.takeLosses();
      const event = withNotice(result, losses?.notice);
      const ended = { event, others: [...running.keys()], losses };
      outcome = await commitResult(ports, { ...work, context }, ended);
    }
    if (outcome.status !== 'current') return outcome;
  }
  return outcome;
};

/** It was looked at, and still runs. */
const isDetached = ({ turn }: TurnContext, callId: CallId): boolean =>
  detachedCalls(turn.state).some((call) => call.callId === callId);

type Ended = {
  readonly event: CallStep;
  readonly others: readonly CallId[];
  /** The event tells them. */
  readonly losses?: Losses | undefined;
};

/**
 * Committed on what another caller wrote concurrently, if the call and its neighbours still run there. The workspace is saved
 * before a result that may be the last of its turn.
 */
export const commitResult = async (
  ports: LoopDeps,
  { lazySandbox, ...work }: Pick<ToolWork, 'lazySandbox' | 'context'>,
  { event, others, losses }: Ended,
): Promise<CommitOutcome> => {
  let { context } = work;
  const log = lazySandbox.takeLog();
  for (;;) {
    const { session, turn, limits } = context;
    const used = lazySandbox.current();
    const after = reduce(turn.state, event, withOwnMoney(limits.turn, session)).state;
    const saved = mayBeLast(after)
      ? ((await unlessAborted(context.monitor.signal, saveLast(ports, context, used))) ??
        withoutSave(context, event, after))
      : unsaved;
    const next = used === undefined ? context : { ...context, used };
    const outcome =
      saved === undefined
        ? interrupted(context)
        : await applyTelling(ports, next, {
            ...{ event, log: [...log, ...saved.log], files: saved.files, losses },
            // The others are looked at in this hold, though the turn waits for none of them.
            keepsLease: others.length > 0,
          });
    if (outcome.status !== 'moved') return outcome;
    const reloaded = await reloadRunning(ports, context, [event.callId, ...others]);
    if (reloaded.status !== 'current') return reloaded;
    context = reloaded.context;
  }
};

/** The session counts as told of losses once the event that tells them is committed: a holder that dies before leaves them to the next. */
const applyTelling = async (
  ports: LoopDeps,
  context: TurnContext,
  { losses, ...applied }: Applied & Pick<Ended, 'losses'>,
): Promise<CommitOutcome> => {
  const outcome = await applyEvent(ports, context, applied);
  const { status } = outcome;
  if (status === 'current' || status === 'behind' || status === 'released')
    await recordLossNotice(ports, context.session, losses);
  return outcome;
};

/**
 * The model may not be asked again, where the workspace would be saved: the completion comes next, or an answer of a client
 * or a child that brings it, also one that is not asked yet.
 */
const mayBeLast = (state: TurnState): boolean =>
  state.kind === 'done' || (state.kind === 'acting' && pendingWork(state).every(isAnswered));

const isAnswered = (effect: TurnEffect): boolean => effect.type === 'run-tool' && isDelegated(effect);

const unsaved: SavedAgain = { log: [] };

/** A result that no other caller gets is written at the deadline all the same: its call ends with this function. Undefined for another. */
const withoutSave = (
  { monitor, turn: { state } }: TurnContext,
  { callId }: CallStep,
  after: TurnState,
): SavedAgain | undefined => {
  if (monitor.interruption() !== 'deadline' || state.kind !== 'acting') return undefined;
  const call = state.calls.find((one) => one.callId === callId);
  if (call?.generation !== remoteGeneration) return undefined;
  if (after.kind !== 'done' || state.unsaved === undefined) return unsaved;
  const { generation } = state.unsaved;
  return { log: [notSavedEntry(noTime, undefined)], files: { generation, lost: noTime } };
};

const noTime = 'the function that ran the turn had no time left for it';

/** An earlier holder may have run calls in the sandbox, and have left only delegated ones to this one. */
const saveLast = async (
  ports: LoopDeps,
  context: TurnContext,
  used: UsedSandbox | undefined,
): Promise<SavedAgain> => {
  const known = used ?? (await usedBefore(ports, context));
  return 'sandbox' in known ? checkpointAgain(ports, known, turnOf(context.turn)) : { ...unsaved, ...known };
};

/** The notice of the sandbox comes before the result, as the model reads it. */
export const withNotice = (event: CallStep, notice: string | undefined): CallStep => {
  if (notice === undefined) return event;
  if (event.type === 'call-unsent') return { ...event, notice };
  if (event.type === 'call-finished') return { ...event, text: `${notice}\n${event.text}` };
  return event.type === 'call-failed'
    ? { ...event, message: `${event.message} ${notice}` }
    : { ...event, wait: { ...event.wait, notice } };
};
