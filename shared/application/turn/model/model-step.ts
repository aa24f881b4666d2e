/**
 * A model step: asks the model while the workspace is saved, and applies its answer. If a cancel cut the answer off, it applies
 * the cancel with the text so far.
 */

import { turnOf } from '../../../domain/turn/begin-turn.ts';
import { isKnownLoss, type SavedFiles } from '../../../domain/turn/saved-files.ts';
import type { PartialAnswer, Thinking, TurnEvent } from '../../../domain/turn/turn.ts';
import type { UnansweredCall } from '../../../domain/turn/unanswered-call.ts';
import type { LoopDeps } from '../../deps.ts';
import { unlessAborted } from '../../wait-unless-aborted.ts';
import { applyEvent } from '../commit/apply-event.ts';
import { type CommitOutcome, interrupted, type TurnContext } from '../holder/turn-context.ts';
import { checkpointAgain, checkpointTurn, type TurnCheckpoint } from '../tools/checkpoint-turn.ts';
import { type CallMeter, openCallMeter } from './call-meter.ts';
import { callModel } from './call-model.ts';
import { releaseReservation } from './reserve-in-tree.ts';

export type ModelStep = {
  readonly state: Thinking;
  readonly outputTokensMax: number;
  /** Epoch milliseconds at which the function is ended. */
  readonly deadlineAt: number;
};

type HeardStep = ModelStep & {
  readonly onText: (said: PartialAnswer) => void;
  readonly meter: CallMeter;
};

/** Money that was reserved for an answer that is not written is released, or stays counted where the call was on its way. */
export const runModelStep = async (
  ports: LoopDeps,
  context: TurnContext,
  step: ModelStep,
): Promise<CommitOutcome> => {
  let said: PartialAnswer | undefined;
  const onText = (text: PartialAnswer): void => {
    said = text;
  };
  const meter = openCallMeter();
  const release = (): Promise<void> => releaseReservation(ports, context.session, meter.reserved());
  try {
    const outcome = await answer(ports, context, { ...step, onText, meter });
    if (outcome.context.turn === context.turn) await release();
    return outcome;
  } catch (error) {
    const why = context.monitor.interruption();
    const lost = why === 'cancelled' ? meter.lost() : {};
    const isWritten = Object.keys(lost).length > 0;
    if (!isWritten) await release();
    if (why === undefined) throw error;
    if (why !== 'cancelled') return interrupted(context);
    const outcome = await cancel(ports, context, {
      ...lost,
      ...(said === undefined ? {} : { partial: said }),
    });
    if (isWritten && outcome.context.turn === context.turn) await release();
    return outcome;
  }
};

/** With what is known of its call, which takes the place of its reservation. */
const cancel = (
  ports: LoopDeps,
  context: TurnContext,
  cut: UnansweredCall & { readonly partial?: PartialAnswer },
): Promise<CommitOutcome> =>
  applyEvent(ports, context, { event: { type: 'cancelled', at: ports.world.now(), ...cut } });

const answer = async (ports: LoopDeps, context: TurnContext, step: HeardStep): Promise<CommitOutcome> => {
  const [event, { log, taken, files }] = await askWhileSaving(ports, context, step);
  const { used: _, ...saved } = context;
  // A loss that the model knows of is in the log.
  const isKnown = files?.lost !== undefined && isKnownLoss(step.state, files);
  const outcome = await applyEvent(ports, saved, {
    ...{ event: withFilesOf(event, files), log: isKnown ? [] : log, files },
    checkpoint: taken?.note,
  });
  if (outcome.status !== 'unsaved' || taken === undefined) return outcome;
  const again = await unlessAborted(
    context.monitor.signal,
    checkpointAgain(ports, taken, turnOf(context.turn)),
  );
  if (again === undefined) return interrupted(context);
  return applyEvent(ports, saved, { ...again, event: withFilesOf(event, again.files) });
};

const withFilesOf = (event: TurnEvent, files: SavedFiles | undefined): TurnEvent =>
  event.type === 'model-answered' && files !== undefined ? { ...event, files } : event;

/** A save that fails ends the call of the model, which may only be reserving its money: nothing of it follows. */
const askWhileSaving = async (
  ports: LoopDeps,
  context: TurnContext,
  step: HeardStep,
): Promise<[TurnEvent, TurnCheckpoint]> => {
  const over = new AbortController();
  const signal = AbortSignal.any([context.monitor.signal, over.signal]);
  const asking = callModel(ports, { context, ...step, signal });
  try {
    const [event, saved] = await Promise.all([asking, unlessAborted(signal, checkpointTurn(ports, context))]);
    if (saved === undefined) throw signal.reason;
    return [event, saved];
  } catch (error) {
    over.abort(error);
    await asking.catch(() => undefined);
    throw error;
  }
};
