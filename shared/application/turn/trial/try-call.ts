/**
 * Tries a call that a person decides by its effect: in a fork of the workspace, in a sandbox of its own, and compares the
 * files before and after. The live workspace is read and never written.
 *
 * A trial that its function did not finish is ended and begun again in a new fork. One that cannot be made, for want of a
 * slot or of time, leaves the call without an effect: it is asked as it is, with the reason.
 */

import { canonicalJson } from '../../../domain/canonical-json.ts';
import { filesIdOf, type LeftOut, type ManifestRef, refOf } from '../../../domain/checkpoint.ts';
import { boundEffect, digestedEffect, type Effect, type EffectFile } from '../../../domain/effect.ts';
import type { CallId, SessionId } from '../../../domain/ids.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { sandboxWaitMsMax, saveMsMax } from '../../../domain/limits.ts';
import { slotHolderOf } from '../../../domain/slot-holder.ts';
import { type FilesSource, sourceOfWorkspace } from '../../../domain/snapshot.ts';
import type { TrialOutcome, TriedCall } from '../../../domain/turn/trial.ts';
import type { EventOf, TrialEffect } from '../../../domain/turn/turn.ts';
import { callToTry, triedBefore } from '../../../domain/turn/waiting-call.ts';
import { AppError, isAppError } from '../../../errors.ts';
import type { AskedOutcome } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import { acquireSandbox } from '../../sandbox/acquire-sandbox.ts';
import { callForAWhile } from '../../sandbox/call-until-outcome-known.ts';
import { makeRoom } from '../../sandbox/make-room.ts';
import { startedFor } from '../../sandbox/sandbox-request.ts';
import { saveWorkspace } from '../../sandbox/save-workspace.ts';
import { liveWorkspace } from '../../sandbox/saved-workspace.ts';
import { changesTooOften, raceLost, untilWon } from '../../write-race.ts';
import { applyEvent } from '../commit/apply-event.ts';
import { type CommitOutcome, interrupted, type TurnContext } from '../holder/turn-context.ts';
import { discardTrial } from '../requests/discard-trial.ts';
import { boundResult, type KeptFile } from '../tools/bound-result.ts';
import type { ToolTimes } from '../tools/run-call-once.ts';
import { createTrial, endTrial, wantedHosts } from './trial-session.ts';

type Work = {
  readonly effect: TrialEffect;
  readonly toolTimes: ToolTimes;
};

export const tryCall = async (ports: LoopDeps, context: TurnContext, work: Work): Promise<CommitOutcome> => {
  const { effect } = work;
  const { callId } = effect;
  if (effect.session !== undefined) await endTrial(ports, effect.session);
  const session = ports.world.uuid() as SessionId;
  const started = await applyEvent(ports, context, {
    event: { type: 'trial-started', at: ports.world.now(), callId, session },
  });
  if (started.status !== 'current') return started;
  try {
    const trial = await trialIn(ports, started.context, { ...work, session });
    const outcome = await recordEnd(ports, started.context, { callId, trial });
    if (outcome.status === 'current' && isRefused(outcome.context, callId))
      await discardTrial(ports, session);
    return outcome;
  } catch (error) {
    if (started.context.monitor.signal.aborted) return interrupted(started.context);
    throw error;
  }
};

/** The turn of a call that a rule decides works again, and takes a slot. Where none is free a person is asked: they hear of it when they decide. */
const recordEnd = async (
  ports: LoopDeps,
  context: TurnContext,
  ended: Pick<EventOf<'trial-ended'>, 'callId' | 'trial'>,
): Promise<CommitOutcome> => {
  const { agentMax: slotsMax } = ports.slotLimits;
  const event = { type: 'trial-ended' as const, at: ports.world.now(), ...ended };
  const outcome = await applyEvent(ports, context, { event, slotsMax });
  if (outcome.status !== 'full') return outcome;
  if (await makeRoom(ports, { holder: slotHolderOf(context.session) })) {
    const again = await applyEvent(ports, context, { event, slotsMax });
    if (again.status !== 'full') return again;
  }
  return applyEvent(ports, context, { event: { ...event, asks: true } });
};

/** By a rule: its files are not needed. */
const isRefused = ({ turn: { state } }: TurnContext, callId: CallId): boolean =>
  'calls' in state && state.calls.some((call) => call.callId === callId && call.status === 'rejected');

type Trial = Work & { readonly session: SessionId };

/** Its session is over before anybody decides: a decision discards what it leaves. */
const trialIn = async (ports: LoopDeps, context: TurnContext, work: Trial) => {
  try {
    return await run(ports, context, work);
  } catch (error) {
    if (context.monitor.signal.aborted || !isAppError(error)) throw error;
    ports.telemetry.warn('a call was not tried', { sessionId: context.session.id, code: error.code });
    return { state: 'untried' as const, reason: `it could not be tried: ${error.message}` };
  } finally {
    await endTrial(ports, work.session);
  }
};

const run = async (
  ports: LoopDeps,
  context: TurnContext,
  { effect: { key, name, args }, toolTimes, session: id }: Trial,
): Promise<TriedCall> => {
  const { monitor, session: parent } = context;
  const { signal } = monitor;
  const until = ports.world.now() + sandboxWaitMsMax + toolTimes.waitMs + 2 * saveMsMax;
  const { trial, source, live } = await untilWon(async () => {
    const from = await sourceOf(ports, context);
    const made = await createTrial(ports, { id, parent, key, until, source: from.source });
    return made === undefined ? raceLost : { trial: made, ...from };
  }, changesTooOften('the workspace'));
  const { sandbox, start, logged } = await acquireSandbox(ports, { ...startedFor(trial), signal });
  await logged;
  refuseRest(start?.restored?.missing ?? [], 'its copy of the workspace lacks a file that was not restored');
  const startedAt = ports.world.now();
  const call = { sandbox, callKey: `${id}/${key}`, name, args, onProgress: () => undefined };
  const outcome = await callForAWhile(ports, { ...call, signal, waitMs: toolTimes.waitMs });
  signal.throwIfAborted();
  refuseUnknown(outcome, toolTimes);
  const durationMs = ports.world.now() - startedAt;
  const { result, file } = await resultOf(ports, outcome, {
    key,
    get: async () => ({ sandbox }),
    durationMs,
  });
  const saved = await saveWorkspace(ports, sandbox);
  if (saved.status === 'failed')
    throw new AppError('sandbox_unavailable', `its files were not saved: ${saved.message}`);
  refuseRest(saved.leftOut, 'it created a file that cannot be saved');
  const before = source.checkpoint && refOf(source.checkpoint);
  const after = await checkpointOf(ports, trial.workspace);
  const hosts = await wantedHosts(ports, sandbox);
  const effect = await effectOf(ports, { trial, before, after, outcome, durationMs, hosts, file });
  const { digest } = callOf(context);
  const effectDigest = ports.world.sha256(canonicalJson(digestedEffect(digest, effect)));
  return {
    ...{ state: 'tried', session: id, workspace: trial.workspace, effect, effectDigest, outcome: result },
    ...(live === undefined ? {} : { live }),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
};

type Source = { readonly source: FilesSource; readonly live: string | undefined };

/** The files as they are now; behind an approved call of the same queue, as that will leave them. */
const sourceOf = async (ports: LoopDeps, { session, turn: { state } }: TurnContext): Promise<Source> => {
  const saved = await liveWorkspace(ports, session.workspace);
  refuseRest(saved.leftOut, 'its copy of the workspace would lack a file that cannot be saved');
  const { id, checkpoint } = saved.workspace;
  const live = checkpoint && filesIdOf(checkpoint);
  const before = triedBefore(state);
  if (before === undefined) return { source: sourceOfWorkspace(id, checkpoint), live };
  const fork = await ports.workspaces.get(before.workspace);
  if (fork === undefined || fork.deletedAt !== undefined)
    throw new AppError('conflict', 'the result of the previous call is no longer available');
  return { source: sourceOfWorkspace(fork.id, fork.checkpoint), live };
};

/** A trial on fewer files might do something else, and what is applied might meet those that it lacked. */
const refuseRest = ([first]: readonly LeftOut[], problem: string): void => {
  if (first !== undefined) throw new AppError('conflict', `${problem}: ${first.path} (${first.reason})`);
};

const callOf = ({ turn: { state } }: TurnContext) => {
  const call = callToTry(state);
  if (call === undefined) throw new Error('no call is to be tried');
  return call;
};

type Ended = Exclude<AskedOutcome, { status: 'running' | 'lost' }>;

function refuseUnknown(outcome: AskedOutcome, { waitMs }: ToolTimes): asserts outcome is Ended {
  if (outcome.status === 'running')
    throw new AppError('execution_timeout', `it runs for more than ${Math.round(waitMs / 1000)} s`);
  if (outcome.status === 'lost') throw new AppError('sandbox_unavailable', outcome.message);
}

type Kept = Parameters<typeof boundResult>[2] & { readonly durationMs: number };

/** As the call's own result would be. A long one is kept whole among the files of the trial. */
const resultOf = async (
  ports: LoopDeps,
  outcome: Ended,
  { durationMs, ...place }: Kept,
): Promise<{ readonly result: TrialOutcome; readonly file?: KeptFile | undefined }> => {
  if (outcome.status === 'failed') return { result: { code: outcome.code, message: outcome.message } };
  const { content, text, images, file } = await boundResult(ports, outcome.content, place);
  return { result: { content, text, ...(images.length === 0 ? {} : { images }), durationMs }, file };
};

const checkpointOf = async (
  { workspaces }: LoopDeps,
  id: TriedCall['workspace'],
): Promise<ManifestRef | undefined> => {
  const checkpoint = (await workspaces.get(id))?.checkpoint;
  return checkpoint && refOf({ ...checkpoint, workspace: checkpoint.workspace ?? id });
};

type Tried = {
  readonly trial: { readonly workspace: TriedCall['workspace'] };
  readonly before: ManifestRef | undefined;
  readonly after: ManifestRef | undefined;
  readonly outcome: Ended;
  readonly durationMs: number;
  readonly hosts: readonly string[];
  readonly file: KeptFile | undefined;
};

const effectOf = async (
  { archive, world }: LoopDeps,
  { trial, before, after, outcome, durationMs, hosts, file }: Tried,
): Promise<Effect> => {
  const compared = await archive.compare(trial.workspace, {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  });
  if (compared.status === 'refused') throw new AppError('internal_error', compared.reason);
  const { files, changes } = compared;
  const leftOut = changes - files.length;
  const sha256 = file && world.sha256(file.content);
  return boundEffect({
    files: files.filter((entry) => !isKeptResult(entry, { path: file?.path, sha256 })),
    ...(leftOut === 0 ? {} : { filesLeftOut: leftOut }),
    ...(after === undefined ? {} : { stateSha256: after.sha256 }),
    exitCode: exitCodeOf(outcome.structured),
    output: outcome.status === 'failed' ? outcome.message : textOfResult(outcome),
    hosts: [...hosts],
    durationMs,
  });
};

/** The platform's own file, and not the call's: nothing of it is another than what was stored. */
const isKeptResult = (
  { path, change, type, mode, sha256 }: EffectFile,
  kept: { readonly path: string | undefined; readonly sha256: string | undefined },
): boolean =>
  path === kept.path &&
  sha256 === kept.sha256 &&
  change === 'created' &&
  type === 'file' &&
  mode === undefined;

const exitCodeOf = (structured: JsonObject | undefined): number | null => {
  const code = structured?.['exit_code'];
  return typeof code === 'number' ? code : null;
};

const textOfResult = ({ content, structured }: Extract<Ended, { status: 'finished' }>): string => {
  const { stdout, stderr } = structured ?? {};
  if (typeof stdout === 'string' && typeof stderr === 'string')
    return [stdout, stderr].filter((text) => text !== '').join('\n');
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
};
