/** A model step: asks the model while the workspace is saved, and applies its answer. */

import type { Thinking } from '../../../domain/turn/turn.ts';
import type { LoopDeps } from '../../deps.ts';
import { applyEvent } from '../commit/apply-event.ts';
import { type CommitOutcome, interrupted, type TurnContext } from '../commit/turn-context.ts';
import { checkpointAgain, checkpointTurn } from '../tools/checkpoint-turn.ts';
import { callModel } from './call-model.ts';
import { releaseReservation } from './tree-budget.ts';

export type ModelStep = {
  readonly state: Thinking;
  readonly outputTokensMax: number;
  /** Epoch milliseconds at which the function is ended. */
  readonly deadlineAt: number;
};

/** Money that was reserved for an answer that is not written is released. */
export const runModelStep = async (
  ports: LoopDeps,
  context: TurnContext,
  step: ModelStep,
): Promise<CommitOutcome> => {
  try {
    const outcome = await answer(ports, context, step);
    if (outcome.context.turn === context.turn) await releaseReservation(ports, context.session);
    return outcome;
  } catch (error) {
    await releaseReservation(ports, context.session);
    if (context.monitor.interruption() === undefined) throw error;
    return interrupted(context);
  }
};

const answer = async (ports: LoopDeps, context: TurnContext, step: ModelStep): Promise<CommitOutcome> => {
  const { signal } = context.monitor;
  const [event, { log, taken }] = await Promise.all([
    callModel(ports, { context, ...step, signal }),
    checkpointTurn(ports, context),
  ]);
  const { used: _, ...saved } = context;
  const outcome = await applyEvent(ports, saved, { event, log, checkpoint: taken?.note });
  if (outcome.status !== 'unsaved' || taken === undefined) return outcome;
  return applyEvent(ports, saved, { event, log: await checkpointAgain(ports, taken.sandbox) });
};
