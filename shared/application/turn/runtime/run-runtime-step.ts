/**
 * Runs a turn by a program of the sandbox: gives it the prompt, writes its reports into the log in steps, passes on the
 * decisions about its questions, and saves the workspace at its end. Invariants RT3 to RT7: docs/spec/runtimes.md.
 *
 * May die at any line: the prompt and the answers have names, facts have numbers, and the state holds the number of the last
 * logged fact.
 */

import type { SessionId } from '../../../domain/ids.ts';
import type { RuntimeEvent, RuntimeWork } from '../../../domain/runtime.ts';
import { payersOf, totalsOf } from '../../../domain/session.ts';
import { withOwnMoney } from '../../../domain/session-tree.ts';
import { toolCallsLeft } from '../../../domain/tool-call-use.ts';
import { turnOf } from '../../../domain/turn/begin-turn.ts';
import { runtimeTurnOf } from '../../../domain/turn/pending-work.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import type { Thinking, TurnEvent } from '../../../domain/turn/turn.ts';
import { type AppError, isAppError } from '../../../errors.ts';
import type { LoopDeps } from '../../deps.ts';
import { startedFor } from '../../sandbox/sandbox-request.ts';
import { onRelayWanted } from '../../sandbox/start-relay.ts';
import { verifySandbox } from '../../sandbox/verify-sandbox.ts';
import { unlessAborted } from '../../wait-unless-aborted.ts';
import { type Applied, applyEvent } from '../commit/apply-event.ts';
import {
  type CommitOutcome,
  interrupted,
  type TurnContext,
  type UsedSandbox,
} from '../holder/turn-context.ts';
import { checkpointAgain, checkpointTurn } from '../tools/checkpoint-turn.ts';
import { type LazySandbox, openLazySandbox } from '../tools/lazy-sandbox.ts';
import { abortRuntime, type CarriedTurn, hearRuntime, promptRuntime, replyToRuntime } from './ask-runtime.ts';
import { type DeltaRelay, openDeltaRelay } from './runtime-deltas.ts';
import { movedBy, toolCallsOf, withinQueue } from './runtime-event.ts';
import { promptOf } from './runtime-prompt.ts';

type Carried = Thinking & { readonly runtime: RuntimeWork };

type Drive = {
  readonly lazySandbox: LazySandbox;
  readonly deltas: DeltaRelay;
};

/** A program that waits for the relay is asked again so late, in milliseconds. */
const relayPauseMs = 500;
/** A sandbox that did not answer is asked again so late, in milliseconds, and so often before its turn fails. */
const silencePauseMs = 1000;
const silencesMax = 10;

export const runRuntimeStep = async (ports: LoopDeps, context: TurnContext): Promise<CommitOutcome> => {
  const wanted = { ...startedFor(context.session), signal: context.monitor.signal };
  const lazySandbox = openLazySandbox(ports, wanted);
  const drive = { lazySandbox, deltas: openDeltaRelay(ports, context) };
  try {
    return await carry(ports, context, drive);
  } catch (error) {
    const why = context.monitor.interruption();
    if (why === undefined) throw error;
    return interrupt(ports, context, drive);
  } finally {
    await lazySandbox.leave();
  }
};

/** The program is stopped while the end is written: neither waits for the other. */
const cancel = async (ports: LoopDeps, context: TurnContext, drive: Drive): Promise<CommitOutcome> => {
  const stopping = stopProgram(ports, context, drive);
  const outcome = await applyEvent(ports, context, { event: { type: 'cancelled', at: ports.world.now() } });
  await stopping;
  return outcome;
};

const stopProgram = async (ports: LoopDeps, { turn }: TurnContext, { lazySandbox }: Drive): Promise<void> => {
  const used = lazySandbox.current();
  const carried = carriedOf(turn.state);
  if (used !== undefined && carried !== undefined)
    await abortRuntime(ports, used.sandbox, runtimeTurnOf(carried.turnId, carried.runtime));
};

const carriedOf = (state: TurnContext['turn']['state']): Carried | undefined =>
  state.kind === 'thinking' && state.runtime !== undefined ? { ...state, runtime: state.runtime } : undefined;

/** From step to step while the program works and nothing else is to be done. */
const carry = async (ports: LoopDeps, first: TurnContext, drive: Drive): Promise<CommitOutcome> => {
  let outcome: CommitOutcome = { status: 'current', context: first };
  let silences = 0;
  for (;;) {
    const context: TurnContext = outcome.context;
    const state = carriedOf(context.turn.state);
    if (outcome.status !== 'current' || state === undefined) return outcome;
    if (context.monitor.interruption() !== undefined) return interrupt(ports, context, drive);
    const next = await tryToMove(ports, context, { ...drive, state });
    silences = 'error' in next ? silences + 1 : 0;
    outcome = 'error' in next ? await recover(ports, context, { ...drive, state, silences, ...next }) : next;
  }
};

const interrupt = (ports: LoopDeps, context: TurnContext, drive: Drive): Promise<CommitOutcome> =>
  context.monitor.interruption() === 'cancelled'
    ? cancel(ports, context, drive)
    : Promise.resolve(interrupted(context));

const tryToMove = async (
  ports: LoopDeps,
  context: TurnContext,
  step: Step,
): Promise<CommitOutcome | { readonly error: AppError }> => {
  try {
    return await moveOn(ports, context, step);
  } catch (error) {
    if (!isAppError(error) || context.monitor.signal.aborted) throw error;
    return { error };
  }
};

type Failing = Step & { readonly error: AppError; readonly silences: number };

/** A sandbox that is gone is looked for anew; one that does not answer for a moment is asked again. Anything else fails the turn. */
const recover = async (
  ports: LoopDeps,
  context: TurnContext,
  { lazySandbox, state, error, silences }: Failing,
): Promise<CommitOutcome> => {
  const used = lazySandbox.current();
  if (error.code === 'sandbox_unavailable' && used !== undefined && silences <= silencesMax) {
    const found = await verifySandbox(ports, used.workspace, used.sandbox);
    if (found === 'gone') return { status: 'behind', context };
    await ports.world.sleep(silencePauseMs, context.monitor.signal);
    return { status: 'current', context };
  }
  const { code, message } = error;
  const event = { type: 'model-failed' as const, at: ports.world.now(), step: state.step, code, message };
  const log = lazySandbox.takeLog();
  if (used === undefined) return applyEvent(ports, context, { event, log });
  const outcome = await writeSaved(ports, context, { event, log, used });
  await stopEnded(ports, outcome, { turn: context.turn, used });
  return outcome;
};

type Step = Drive & { readonly state: Carried };

/** One step: the start in a sandbox, or what the program has said since the last. */
const moveOn = async (ports: LoopDeps, context: TurnContext, step: Step): Promise<CommitOutcome> => {
  const { lazySandbox, state } = step;
  const used = await lazySandbox.get();
  const { generation } = used.sandbox;
  const { signal } = context.monitor;
  if (state.runtime.generation !== generation) {
    const event = { type: 'runtime-began' as const, at: ports.world.now(), generation };
    return applyEvent(ports, context, { event, log: lazySandbox.takeLog() });
  }
  const turn = {
    sandbox: used.sandbox,
    turn: runtimeTurnOf(state.turnId, state.runtime),
    signal,
  };
  await promptRuntime(ports, turn, promptOf(context, state));
  if (state.runtime.replies.length > 0) await replyToRuntime(ports, turn, state.runtime.replies);
  return hear(ports, context, { ...step, used, turn });
};

type Hearing = Step & { readonly used: UsedSandbox; readonly turn: CarriedTurn };

/** Until it says something that the log keeps. */
const hear = async (ports: LoopDeps, context: TurnContext, hearing: Hearing): Promise<CommitOutcome> => {
  const { used, turn, state, deltas } = hearing;
  const { world, invoker } = ports;
  const sessionId: SessionId = context.session.id;
  const wanted = onRelayWanted(invoker, used.sandbox, { ...ports, sessionId });
  for (;;) {
    turn.signal.throwIfAborted();
    const page = await hearRuntime(ports, turn, state.runtime.taken);
    for (const delta of page.deltas) deltas.push(delta);
    if (page.events.length > 0) {
      void deltas.flush();
      return write(ports, context, {
        ...hearing,
        event: await eventOf(ports, context, {
          state,
          events: withinQueue(page.events, context.limits.turn.callsMax),
        }),
      });
    }
    if (page.isRelayWanted) {
      wanted();
      await world.sleep(relayPauseMs, turn.signal);
    }
  }
};

type Said = { readonly state: Carried; readonly events: readonly RuntimeEvent[] };

/** The broker counts what model calls cost, beside the turn. */
const eventOf = async (ports: LoopDeps, context: TurnContext, { state, events }: Said) => {
  const hasCost = events.some(({ fact: { type } }) => type === 'step' || type === 'ended');
  const session = hasCost ? await ports.sessions.get(context.session.id) : undefined;
  const spentUsd = session === undefined ? state.spentUsd : totalsOf(session).costUsd;
  const callsLeft = toolCallsOf(events) === 0 ? undefined : await callsLeftFor(ports, context);
  return movedBy(ports, context, { state, events, spentUsd, callsLeft });
};

/** Its slices bound the calls that it makes itself (TM9). Undefined: none does. */
const callsLeftFor = async (
  { trees, world }: LoopDeps,
  { session }: TurnContext,
): Promise<number | undefined> => {
  const payers = payersOf(session);
  if (payers === undefined) return undefined;
  const tree = await trees.read(payers.root);
  return tree === undefined ? 0 : toolCallsLeft(tree, { slices: payers.slices, at: world.now() });
};

type Writing = Hearing & { readonly event: Extract<TurnEvent, { type: 'runtime-moved' }> };

/** A turn that ends, by any caller, or waits for a person is written with its files. A program over its limits is stopped. */
const write = async (
  ports: LoopDeps,
  context: TurnContext,
  { event, used, lazySandbox }: Writing,
): Promise<CommitOutcome> => {
  const log = lazySandbox.takeLog();
  const { session, turn, limits } = context;
  const { state } = reduce(turn.state, event, withOwnMoney(limits.turn, session));
  if (state.kind !== 'done' && event.asked.length === 0) return applyEvent(ports, context, { event, log });
  const outcome = await writeSaved(ports, context, { event, used, log });
  if (event.end === undefined) await stopEnded(ports, outcome, { turn, used });
  return outcome;
};

type Saving = Pick<Applied, 'event' | 'log'> & { readonly used: UsedSandbox };

/** The workspace is saved before the turn says that it is done (L11). */
const writeSaved = async (
  ports: LoopDeps,
  context: TurnContext,
  { event, log = [], used }: Saving,
): Promise<CommitOutcome> => {
  const { signal } = context.monitor;
  const saved = await unlessAborted(signal, checkpointTurn(ports, { ...context, used }));
  if (saved === undefined) return interrupted(context);
  const { files, taken } = saved;
  const applied = { event, log: [...log, ...saved.log], files, checkpoint: taken?.note };
  const outcome = await applyEvent(ports, context, applied);
  if (outcome.status !== 'unsaved' || taken === undefined) return outcome;
  const again = await unlessAborted(signal, checkpointAgain(ports, taken, turnOf(context.turn)));
  if (again === undefined) return interrupted(context);
  return applyEvent(ports, context, { ...again, event, log: [...log, ...again.log] });
};

type Worked = { readonly turn: TurnContext['turn']; readonly used: UsedSandbox };

/** A program whose turn the platform has ended works on until it hears of it (RT5). */
const stopEnded = async (ports: LoopDeps, outcome: CommitOutcome, { turn, used }: Worked): Promise<void> => {
  const carried = carriedOf(turn.state);
  if (outcome.context.turn.state.kind === 'done' && carried !== undefined)
    await abortRuntime(ports, used.sandbox, runtimeTurnOf(carried.turnId, carried.runtime));
};
