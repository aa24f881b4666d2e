/**
 * The pipeline of a session's turns: takes the lease, loads the turn, and does what is pending until nothing is: call the
 * model, collect what children and detached calls have answered, run tools, expire calls, begin the next message.
 *
 * May be invoked twice, late, or for nothing, and may die at any line: the next holder reads the same state and goes on. A
 * holder that finds nothing to do publishes the newest events again, since its predecessor may have died between its commit
 * and publishing. Near the end of its function's time it hands over to another invocation, between two commits.
 */

import { eventFrame, type Frame } from '../../contracts/frames.ts';
import { ofLatestTurn } from '../../domain/event-log.ts';
import type { FeaturesSeen } from '../../domain/features.ts';
import type { SessionId, TurnId } from '../../domain/ids.ts';
import { type Session, totalsOf } from '../../domain/session.ts';
import { slotHolderOf } from '../../domain/slot-holder.ts';
import { policyOf } from '../../domain/turn/approval-policy.ts';
import { startedBy } from '../../domain/turn/begin-turn.ts';
import {
  callsWithCallers,
  detachedCalls,
  firstDeadline,
  pendingWork,
} from '../../domain/turn/pending-work.ts';
import { currentMessage } from '../../domain/turn/session-after-step.ts';
import type { SessionMark } from '../../domain/turn/session-mark.ts';
import { isBetweenTurns } from '../../domain/turn/turn.ts';
import type { InboxMessage } from '../../ports/inbox.ts';
import { noFreeSlot } from '../access/find-session.ts';
import type { LoopDeps } from '../deps.ts';
import { openPublisher } from '../events/publisher.ts';
import { rememberedRegistry } from '../registry/remembered-registry.ts';
import { makeRoom } from '../sandbox/make-room.ts';
import { collectChildResults } from './children/collect-child-results.ts';
import { applyEvent, applyEvents } from './commit/apply-event.ts';
import { notifyParent } from './commit/notify-parent.ts';
import { unlessAbandoned } from './holder/abandon-step.ts';
import { handOver, keepLease, releaseLease } from './holder/keep-lease.ts';
import {
  acquireTurn,
  type CommitOutcome,
  loadTurn,
  reloadTurn,
  type StepLimits,
  type TurnContext,
} from './holder/turn-context.ts';
import { runModelStep } from './model/model-step.ts';
import { failTurn } from './requests/fail-turn.ts';
import { killWork } from './runtime/ask-runtime.ts';
import { runRuntimeStep } from './runtime/run-runtime-step.ts';
import { collectDetachedResults } from './tools/detached-calls.ts';
import type { ToolTimes } from './tools/run-call-once.ts';
import { runTools } from './tools/run-tools.ts';
import { applyTrial, isTried } from './trial/apply-trial.ts';
import { tryCall } from './trial/try-call.ts';

export type TurnSettings = {
  readonly limits: StepLimits;
  readonly outputTokensMax: number;
  /** Milliseconds that the lease of a turn is held without being renewed. */
  readonly leaseMs: number;
  readonly toolTimes: ToolTimes;
};

export type TurnInvocation = {
  readonly sessionId: SessionId;
  readonly settings: TurnSettings;
  readonly follow?: () => void;
  /** Epoch milliseconds at which the function is ended. */
  readonly deadlineAt: number;
  /** Number of times that this work was handed over already. */
  readonly hops: number;
  /** The features of the deployment, as the function that invoked this one read them. */
  readonly seen?: FeaturesSeen | undefined;
  /** Of events that the caller committed and left to this function to publish. */
  readonly frames?: readonly Frame[] | undefined;
  /** The detached calls of a turn that was cancelled, by their keys. */
  readonly kills?: readonly string[] | undefined;
  /** The session as it rested before the message for which this function was invoked. */
  readonly mark?: SessionMark | undefined;
};

/** Milliseconds that a function needs to hand over. */
const handoverMs = 20_000;
/** The newest events of the latest turn are published again to subscribers that may have missed them. */
const republishedEventsMax = 20;

/**
 * Comes back for calls that no client ends in their time. It sleeps without the lease, so that an answer finds the turn free.
 * Where its own time does not reach, the janitor comes.
 */
export const runTurn = async (ports: LoopDeps, invocation: TurnInvocation): Promise<void> => {
  const lastWake = invocation.deadlineAt - handoverMs;
  let { frames = [], mark } = invocation;
  const { sessionId, kills = [] } = invocation;
  if (kills.length > 0) await killWork(ports, sessionId, kills);
  for (;;) {
    const deadline = await holdTurn(ports, { ...invocation, frames, mark });
    if (deadline === undefined || deadline >= lastWake) return;
    frames = [];
    mark = undefined;
    await ports.world.sleep(Math.max(0, deadline - ports.world.now()));
  }
};

/** When the time of the first call that a client ends is over; undefined when none is left waiting. */
const holdTurn = async (invoked: LoopDeps, invocation: TurnInvocation): Promise<number | undefined> => {
  const ports = { ...invoked, mcpServers: rememberedRegistry(invoked.mcpServers, invoked.world) };
  const { sessionId, settings, deadlineAt, seen, frames = [], mark } = invocation;
  const { limits, leaseMs } = settings;
  const startedAt = ports.world.now();
  const lease = { holder: ports.world.uuid(), at: startedAt, until: startedAt + leaseMs };
  const acquired = await acquireTurn(ports, sessionId, { lease, mark });
  if (acquired === undefined) {
    ports.telemetry.count('LeasesContended');
    await publishBeside(ports, sessionId, frames);
    return undefined;
  }
  openModelAhead(ports, acquired.session);
  const handoverAt = deadlineAt - handoverMs;
  const context = await loadTurn(ports, acquired, { limits, seen, startedAt, handoverAt });
  const { monitor, publisher } = context;
  void publisher.publish(frames);
  const held = keepLease(ports, acquired.session, { leaseMs, onLost: () => monitor.interrupt('lost') });
  try {
    const left = await work(ports, context, invocation);
    return left && firstDeadline(left.turn.state);
  } finally {
    held.stop();
    monitor.stop();
    // Everything that was published before is posted before this.
    await publisher.publish([]);
  }
};

/** Loads the client of the model, and its key, while the table is waited for. The call that needs them meets the failure. */
const openModelAhead = ({ models }: LoopDeps, { provider, runtime }: Session): void => {
  if (runtime === undefined) models.open(provider).catch(() => undefined);
};

/** Another holder goes on with the turn. */
const publishBeside = async (
  ports: LoopDeps,
  sessionId: SessionId,
  frames: readonly Frame[],
): Promise<void> => {
  const session = frames.length === 0 ? undefined : await ports.sessions.get(sessionId);
  if (session !== undefined) await openPublisher(ports, session).publish(frames);
};

/** The turn as it was left; undefined when another invocation goes on. */
const work = async (
  ports: LoopDeps,
  first: TurnContext,
  invocation: TurnInvocation,
): Promise<TurnContext | undefined> => {
  let outcome: CommitOutcome = { status: 'current', context: first };
  let isIdle = true;
  while (outcome.status !== 'released' && outcome.status !== 'lost') {
    // A step that was being written when a cancel was asked for took the request away.
    const isPast = outcome.context.monitor.interruption() === 'cancelled';
    if (outcome.status !== 'current' || isPast) outcome = await reloadTurn(ports, outcome.context);
    const { status, context }: CommitOutcome = outcome;
    if (context.monitor.interruption() === 'deadline') {
      await handOver(ports, context, invocation);
      return undefined;
    }
    if (status !== 'current') return context;
    const next: CommitOutcome | 'abandoned' | undefined = await unlessAbandoned(
      ports,
      context.monitor,
      step(ports, context, invocation),
    );
    if (next === 'abandoned') {
      await handOver(ports, context, invocation);
      return undefined;
    }
    if (next !== undefined) isIdle = false;
    outcome = next ?? (await leave(ports, context, isIdle));
  }
  return outcome.context;
};

/** Gives the lease back; the turn as it stands when work came concurrently. */
const leave = async (ports: LoopDeps, context: TurnContext, isIdle: boolean): Promise<CommitOutcome> => {
  // With a detached call its predecessor released the lease, or looked in vain: it has published all.
  const hasDetached = detachedCalls(context.turn.state).length > 0;
  if (isIdle && !hasDetached) await repeatPredecessor(ports, context);
  if (!(await releaseLease(ports, context))) return reloadTurn(ports, context);
  // Until now its parent has read a session that runs.
  if (context.turn.state.kind === 'done') await notifyParent(ports, context.session);
  return { status: 'released', context };
};

/**
 * Publishes again: a holder that died after its last commit may not have. Nothing of an earlier turn: its completion would
 * end the turn at hand for a client that does not look at the number.
 */
const repeatPredecessor = async (ports: LoopDeps, { session, publisher }: TurnContext): Promise<void> => {
  const since = Math.max(-1, session.lastSeq - republishedEventsMax);
  const page = { since, eventsMax: republishedEventsMax };
  const { events } = await ports.eventLog.read(session.id, page);
  await publisher.publish(ofLatestTurn(events).map((event) => eventFrame(session.id, event)));
};

/** Does the first thing that is pending, and notifies the parent when that ends the turn; undefined when nothing is. */
const step = async (
  ports: LoopDeps,
  context: TurnContext,
  invocation: TurnInvocation,
): Promise<CommitOutcome | undefined> => {
  const outcome = await doNext(ports, context, invocation);
  const isEnd = context.turn.state.kind !== 'done' && outcome?.context.turn.state.kind === 'done';
  if (isEnd) await notifyParent(ports, context.session);
  return outcome;
};

const doNext = async (
  ports: LoopDeps,
  context: TurnContext,
  { settings: { outputTokensMax, toolTimes }, deadlineAt }: TurnInvocation,
): Promise<CommitOutcome | undefined> => {
  const { state } = context.turn;
  const next = isBetweenTurns(state) ? context.inbox[0] : undefined;
  const worked = next ?? currentMessage(state, context.inbox);
  if (worked !== undefined) ports.correlation.follow(worked.correlationId);
  if (state.kind === 'thinking' && state.runtime !== undefined) return runRuntimeStep(ports, context);
  if (state.kind === 'thinking') return runModelStep(ports, context, { state, outputTokensMax, deadlineAt });
  // Before its own calls: a child that notified its parent before this lease was taken does not do it again.
  const collected = await collectChildResults(ports, context);
  if (collected !== undefined) return collected;
  const ended = await collectDetachedResults(ports, context);
  if (ended !== undefined) return ended;
  const pending = pendingWork(state);
  const trial = pending.find((effect) => effect.type === 'try-call');
  if (trial !== undefined) return tryCall(ports, context, { effect: trial, toolTimes });
  const calls = pending.filter((effect) => effect.type === 'run-tool');
  // One after the other, and before a call that runs could change the files.
  const tried = calls.find(isTried);
  if (tried !== undefined) return applyTrial(ports, context, tried);
  if (calls.length > 0) return runTools(ports, context, { calls, toolTimes });
  const expired = await expireCalls(ports, context);
  if (expired !== undefined) return expired;
  return next && beginTurn(ports, context, next);
};

/** Fails the calls that no client has answered in their time; undefined when there are none. */
const expireCalls = (ports: LoopDeps, context: TurnContext): Promise<CommitOutcome | undefined> => {
  const at = ports.world.now();
  const over = callsWithCallers(context.turn.state).filter(({ wait }) => wait.until <= at);
  const events = over.map(({ callId, wait }) => {
    const message = `no answer within ${Math.round((wait.until - wait.since) / 1000)} s`;
    return { type: 'call-failed' as const, at, callId, code: 'execution_timeout', message };
  });
  return applyEvents(ports, context, { events });
};

const beginTurn = async (
  ports: LoopDeps,
  context: TurnContext,
  next: InboxMessage,
): Promise<CommitOutcome> => {
  const { messageId, acceptedAt } = next;
  const { id: sessionId, costUsd: spentUsd, runtime } = context.session;
  ports.telemetry.count('TurnsStarted');
  ports.telemetry.info('a turn begins', { event: 'turn_started', sessionId, messageId });
  const event = startedBy(next, {
    at: ports.world.now(),
    turnId: ports.world.uuid() as TurnId,
    policy: policyOf(context.session),
    spentUsd: runtime === undefined ? spentUsd : totalsOf(context.session).costUsd,
    ...(runtime === undefined ? {} : { runtime }),
  });
  // A message that came after the features were read may follow the first use of one.
  const seen = context.seen !== undefined && context.seen.at < acceptedAt ? undefined : context.seen;
  const { agentMax: slotsMax } = ports.slotLimits;
  const outcome = await applyEvent(ports, { ...context, seen }, { event, slotsMax });
  if (outcome.status !== 'full') return outcome;
  const { session, turn } = context;
  // A message that waited behind a turn without a slot takes one now.
  if (await makeRoom(ports, { holder: slotHolderOf(session) })) return { status: 'current', context };
  const { code, message } = noFreeSlot('agent', slotsMax);
  const failing = { version: turn.version, fence: session.lease.fence, failure: { code, message } };
  await failTurn(ports, sessionId, failing);
  return { status: 'moved', context };
};
