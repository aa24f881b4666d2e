/**
 * Applies the result of a call that was tried and approved: what the trial changed is written into the live workspace, and
 * what it printed is the call's result (AP7). The call does not run again.
 *
 * Nothing is applied to a workspace that differs from the one it was tried on: the call is tried and asked again. An
 * application that its function did not finish is repeated, which changes nothing that is done.
 */

import { type ManifestRef, refOf } from '../../../domain/checkpoint.ts';
import type { LiveSandbox } from '../../../domain/sandbox.ts';
import { turnOf } from '../../../domain/turn/begin-turn.ts';
import type { TriedCall } from '../../../domain/turn/trial.ts';
import type { ToolEffect, ToolResult } from '../../../domain/turn/turn.ts';
import { isAppError } from '../../../errors.ts';
import type { LoopDeps } from '../../deps.ts';
import { startedFor } from '../../sandbox/sandbox-request.ts';
import { liveWorkspace } from '../../sandbox/saved-workspace.ts';
import { applyEvent } from '../commit/apply-event.ts';
import { type CommitOutcome, interrupted, type TurnContext } from '../holder/turn-context.ts';
import { discardTrial } from '../requests/discard-trial.ts';
import { commitResult } from '../tools/collect-tool-results.ts';
import { openLazySandbox } from '../tools/lazy-sandbox.ts';

export type TriedEffect = ToolEffect & { readonly tried: TriedCall };

export const isTried = (effect: ToolEffect): effect is TriedEffect => effect.tried !== undefined;

export const applyTrial = async (
  ports: LoopDeps,
  context: TurnContext,
  effect: TriedEffect,
): Promise<CommitOutcome> => {
  const { signal } = context.monitor;
  const wanted = { ...startedFor(context.session), signal, turn: turnOf(context.turn) };
  const lazySandbox = openLazySandbox(ports, wanted);
  try {
    return await applyIn(ports, context, { effect, lazySandbox });
  } catch (error) {
    if (signal.aborted) return interrupted(context);
    if (!isAppError(error)) throw error;
    const { code, message } = error;
    const { callId } = effect;
    const event = { type: 'call-failed' as const, at: ports.world.now(), callId, code, message };
    return commitResult(ports, { context, lazySandbox }, { event, others: [] });
  } finally {
    await lazySandbox.leave();
  }
};

type Applying = { readonly effect: TriedEffect; readonly lazySandbox: ReturnType<typeof openLazySandbox> };

const applyIn = async (
  ports: LoopDeps,
  context: TurnContext,
  { effect, lazySandbox }: Applying,
): Promise<CommitOutcome> => {
  const { callId, tried } = effect;
  const used = await lazySandbox.get();
  const { generation } = used.sandbox;
  let current = context;
  if (effect.generation === undefined) {
    if (!(await isUnmoved(ports, context, tried))) {
      const outdated = { type: 'trial-outdated' as const, at: ports.world.now(), callId };
      await discardTrial(ports, tried.session);
      return applyEvent(ports, context, { event: outdated, log: lazySandbox.takeLog() });
    }
    const started = { type: 'calls-started' as const, at: ports.world.now(), callIds: [callId], generation };
    const begun = await applyEvent(ports, context, { event: started, log: lazySandbox.takeLog() });
    if (begun.status !== 'current') return begun;
    current = begun.context;
  }
  const event = await unlessUnreachable(applied(ports, used.sandbox, effect));
  if (context.monitor.signal.aborted) return interrupted(current);
  // The loop takes it up again, in another sandbox where this one has died: once.
  if (event === undefined && effect.generation === undefined) return { status: 'moved', context: current };
  await discardTrial(ports, tried.session);
  const unknown = {
    ...{ type: 'call-failed' as const, at: ports.world.now(), callId, code: 'tool_outcome_unknown' },
    message: 'its sandbox could not be reached: its result may have been applied in part',
  };
  return commitResult(ports, { context: current, lazySandbox }, { event: event ?? unknown, others: [] });
};

const unlessUnreachable = async (applying: Promise<ToolResult>): Promise<ToolResult | undefined> => {
  try {
    return await applying;
  } catch (error) {
    if (isAppError(error)) return undefined;
    throw error;
  }
};

/** True when the live workspace has, byte for byte, the files that the call was tried on, and nothing else. */
const isUnmoved = async (
  ports: LoopDeps,
  { session }: TurnContext,
  { before, workspace }: TriedCall,
): Promise<boolean> => {
  const { workspace: live, leftOut } = await liveWorkspace(ports, session.workspace);
  // It appeared after the trial, whose copy lacked it.
  if (leftOut.length > 0) return false;
  const now =
    live.checkpoint && refOf({ ...live.checkpoint, workspace: live.checkpoint.workspace ?? live.id });
  if (now?.id === before?.id) return true;
  const compared = await ports.archive.compare(workspace, statesOf(before, now));
  return compared.status === 'compared' && compared.changes === 0;
};

const statesOf = (before: ManifestRef | undefined, after: ManifestRef | undefined) => ({
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
});

const applied = async (
  ports: LoopDeps,
  sandbox: LiveSandbox,
  { callId, tried: { before, after, outcome } }: TriedEffect,
): Promise<ToolResult> => {
  const request = { id: ports.world.uuid(), ...statesOf(before, after) };
  const result = await ports.archive.apply(sandbox, request);
  const at = ports.world.now();
  const failure = failureOf(result);
  if (failure !== undefined)
    return { type: 'call-failed', at, callId, code: 'tool_outcome_unknown', message: failure };
  return 'code' in outcome
    ? { type: 'call-failed', at, callId, ...outcome }
    : { type: 'call-finished', at, callId, ...outcome };
};

const failureOf = (result: Awaited<ReturnType<LoopDeps['archive']['apply']>>): string | undefined => {
  if (result.status === 'refused') return `its result was not applied: ${result.reason}`;
  const [first] = result.missing;
  return first === undefined
    ? undefined
    : `its result was applied in part: ${result.missing.length} entries were not, the first ${first.path} (${first.reason})`;
};
