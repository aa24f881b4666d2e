/**
 * Runs a queue's approved calls, all in parallel, each failure its own: in one sandbox, remote calls on registered
 * servers, and those of the tool `process`.
 *
 * Before a call starts the turn records where. A call whose sandbox or function was lost has an unknown outcome and is never
 * run again. A remote call ends with this function, so that it is begun only where there is time for it.
 */

import { unnumberedFrame } from '../../../contracts/frames.ts';
import type { CallId } from '../../../domain/ids.ts';
import { remoteCallMsMax } from '../../../domain/limits.ts';
import type { Workspace } from '../../../domain/sandbox.ts';
import { isOffered, type Session } from '../../../domain/session.ts';
import type { Slot } from '../../../domain/slot.ts';
import { utf8Bytes } from '../../../domain/text.ts';
import { turnOf } from '../../../domain/turn/begin-turn.ts';
import { tellPrinted } from '../../../domain/turn/printed.ts';
import { remoteGeneration } from '../../../domain/turn/tool-call.ts';
import type { ToolEffect } from '../../../domain/turn/turn.ts';
import { isAppError } from '../../../errors.ts';
import type { ToolProgress } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import { openTextBatches, type TextBatches } from '../../events/text-batches.ts';
import { startedFor } from '../../sandbox/sandbox-request.ts';
import { applyEvent, applyEvents } from '../commit/apply-event.ts';
import { printedIn } from '../commit/printed-output.ts';
import { type CommitOutcome, interrupted, type TurnContext } from '../holder/turn-context.ts';
import { collectToolResults, commitResult, type ToolWork } from './collect-tool-results.ts';
import { type DelegatedCall, delegateCalls, isDelegated } from './delegate-calls.ts';
import { openLazySandbox } from './lazy-sandbox.ts';
import { isOfFunction, runCall, type ToolTimes, unknownOutcome } from './run-call-once.ts';
import { openRunningCallOutput, type RunningCallOutput } from './running-call-output.ts';

type Queue = {
  readonly calls: readonly ToolEffect[];
  readonly toolTimes: ToolTimes;
};

export const runTools = async (
  ports: LoopDeps,
  context: TurnContext,
  { calls, toolTimes }: Queue,
): Promise<CommitOutcome> => {
  const { monitor } = context;
  const remote = calls.filter(isOfFunction);
  if (remote.length > 0 && !monitor.hasTimeFor(remoteCallMsMax)) {
    monitor.interrupt('deadline');
    return interrupted(context);
  }
  const turn = turnOf(context.turn);
  const wanted = { ...startedFor(context.session), turn, signal: monitor.signal };
  const lazySandbox = openLazySandbox(ports, wanted);
  const relay = progressRelay(ports, context);
  const kept = openRunningCallOutput(ports, context.session.id, calls);
  const work = { context, toolTimes, lazySandbox, relay, kept };
  try {
    const sandboxed = calls.filter((call) => !isOfFunction(call) && !isDelegated(call));
    return await perform(ports, work, { remote, sandboxed, delegated: calls.filter(isDelegated) });
  } finally {
    await Promise.all([lazySandbox.leave(), kept.stop()]);
  }
};

type Routed = {
  readonly remote: readonly ToolEffect[];
  readonly sandboxed: readonly ToolEffect[];
  readonly delegated: readonly DelegatedCall[];
};

type Work = ToolWork & { readonly kept: RunningCallOutput };

const perform = async (
  ports: LoopDeps,
  work: Work,
  { remote, sandboxed, delegated }: Routed,
): Promise<CommitOutcome> => {
  const kill = new AbortController();
  const left = new AbortController();
  const start = (signal: AbortSignal) => (effect: ToolEffect) => {
    const result = runCall(ports, callOf(work, effect, signal));
    // It is waited for once all have begun: one that fails before that must not end the process.
    result.then(
      ({ type }) => type !== 'call-detached' && work.kept.drop(effect.key),
      () => undefined,
    );
    return [effect.callId, result] as const;
  };
  try {
    const sent = await recordStart(ports, work, { effects: remote, generation: remoteGeneration });
    if (sent.status !== 'current') return sent;
    const running = new Map(remote.map(start(AbortSignal.any([kill.signal, left.signal]))));
    const begun = await startSandbox(ports, { ...work, context: sent.context }, sandboxed);
    if (begun.status !== 'current') return begun;
    if (work.context.monitor.interruption() !== undefined) return interrupted(begun.context);
    const started = work.lazySandbox.current() === undefined ? [] : sandboxed;
    for (const [callId, result] of started.map(start(kill.signal))) running.set(callId, result);
    // Last, since an answer moves the turn: a caller that moves it before that cancels it.
    const delegation = { calls: delegated, running: [...running.keys()] };
    const asked = await delegateCalls(ports, { ...work, context: begun.context }, delegation);
    const collected = { ...work, context: asked.context };
    const outcome = asked.status === 'current' ? await collectToolResults(ports, collected, running) : asked;
    // The turn was cancelled: its programs end with it. Another holder would go on with them.
    if (outcome.status === 'moved') kill.abort();
    return outcome;
  } finally {
    // No other holder can take over a remote call.
    left.abort();
  }
};

/** Starts the sandbox and records that its calls start there; a sandbox that cannot be had fails all of them. */
const startSandbox = async (
  ports: LoopDeps,
  work: ToolWork,
  effects: readonly ToolEffect[],
): Promise<CommitOutcome> => {
  const { context } = work;
  if (effects.length === 0) return { status: 'current', context };
  const lost = await ofLostSandbox(ports, context, effects);
  if (lost.length > 0) return failAll(ports, work, { ...unknownOutcome, effects: lost });
  try {
    const { sandbox, workspace } = await work.lazySandbox.get();
    const known = slotWith(context.session, workspace);
    const started = known === undefined ? work : { ...work, context: { ...context, slot: known } };
    return await recordStart(ports, started, { effects, generation: sandbox.generation });
  } catch (error) {
    if (error === context.monitor.signal.reason) return interrupted(context);
    if (!isAppError(error)) throw error;
    return failAll(ports, work, { effects, code: error.code, message: error.message });
  }
};

/** Calls that began in a sandbox that is no more: none has to be started to know their outcome. */
const ofLostSandbox = async (
  { workspaces }: LoopDeps,
  { session }: TurnContext,
  effects: readonly ToolEffect[],
): Promise<readonly ToolEffect[]> => {
  const begun = effects.filter(({ generation }) => generation !== undefined);
  if (begun.length === 0) return begun;
  const sandbox = (await workspaces.get(session.workspace))?.sandbox;
  const isLive = (generation: number | undefined): boolean =>
    sandbox?.generation === generation && sandbox?.state !== 'stopped';
  return begun.filter(({ generation }) => !isLive(generation));
};

/** The slot of a session whose sandbox counts under it. */
const slotWith = ({ id, slot }: Session, { id: workspace, sandbox }: Workspace): Slot | undefined =>
  sandbox?.slot?.session === id
    ? { ...slot, sandbox: { workspace, generation: sandbox.generation, flavor: sandbox.flavor } }
    : undefined;

/** Records where the calls start, before they do. */
const recordStart = async (
  ports: LoopDeps,
  { context, lazySandbox }: ToolWork,
  { effects, generation }: { readonly effects: readonly ToolEffect[]; readonly generation: number },
): Promise<CommitOutcome> => {
  const callIds = effects.filter((effect) => effect.generation === undefined).map(({ callId }) => callId);
  if (callIds.length === 0) return { status: 'current', context };
  const event = { type: 'calls-started' as const, at: ports.world.now(), callIds, generation };
  return applyEvent(ports, context, { event, log: lazySandbox.takeLog() });
};

/** The last of them may end the turn, whose completion says what became of its files. */
const failAll = async (
  ports: LoopDeps,
  { context, lazySandbox }: ToolWork,
  { effects, ...failure }: { effects: readonly ToolEffect[]; code: string; message: string },
): Promise<CommitOutcome> => {
  const at = ports.world.now();
  const printed = await printedIn(ports, context.session.id, context.turn.state);
  const failures = effects.map(({ callId, generation }) => {
    const { code, message } = generation === undefined ? failure : unknownOutcome;
    const told = tellPrinted(message, printed[callId]);
    return { type: 'call-failed' as const, at, callId, code, message: told };
  });
  const last = failures.at(-1);
  if (last === undefined) return { status: 'current', context };
  const before = await applyEvents(ports, context, { events: failures.slice(0, -1) });
  if (before !== undefined && before.status !== 'current') return before;
  return commitResult(
    ports,
    { lazySandbox, context: before?.context ?? context },
    { event: last, others: [] },
  );
};

type Relay = TextBatches<`${CallId} ${ToolProgress['stream']}`>;

export const progressRelay = ({ world }: LoopDeps, { publisher, session }: TurnContext): Relay =>
  openTextBatches({ publisher, world, lengthOf: utf8Bytes }, (key, piece) => {
    const [callId = '', stream = ''] = key.split(' ');
    const data = { callId, stream, ...piece };
    return unnumberedFrame('tool:progress', { sessionId: session.id, at: world.now(), data });
  });

const callOf = (
  { context, lazySandbox, relay, kept, toolTimes }: Work,
  effect: ToolEffect,
  signal: AbortSignal,
) => {
  const onProgress = ({ stream, offset, text }: ToolProgress): void => {
    relay.push(`${effect.callId} ${stream}`, { offset, text });
    kept.push(effect.key, text);
  };
  const isAllowed = isOffered(context.session, effect.name);
  return {
    effect,
    session: context.session,
    isAllowed,
    lazySandbox,
    onProgress,
    printed: () => kept.of(effect.key),
    signal,
    ...toolTimes,
  };
};
