/**
 * Looks at the calls that run on in their sandbox while no function waits: collects the results of those that have ended.
 *
 * No sandbox is started for them: a call whose sandbox is lost has an unknown outcome.
 */
import type { CallId } from '../../../domain/ids.ts';
import { turnOf } from '../../../domain/turn/begin-turn.ts';
import { type DetachedCall, detachedCalls } from '../../../domain/turn/pending-work.ts';
import { tellPrinted } from '../../../domain/turn/printed.ts';
import type { LoopDeps } from '../../deps.ts';
import { unlessAborted } from '../../wait-unless-aborted.ts';
import { printedIn } from '../commit/printed-output.ts';
import type { CommitOutcome, TurnContext, UsedSandbox } from '../holder/turn-context.ts';
import { checkpointAgain, livingSandbox } from './checkpoint-turn.ts';
import { collectToolResults, withNotice } from './collect-tool-results.ts';
import type { LazySandbox } from './lazy-sandbox.ts';
import { type CallStep, runCall, type ToolTimes, unknownOutcome } from './run-call-once.ts';
import { progressRelay } from './run-tools.ts';

/** A look waits for nothing, and starts nothing. */
const noTimes: ToolTimes = { waitMs: 0, secondsMax: 0 };

/** Undefined when none has ended. */
export const collectDetachedResults = async (
  ports: LoopDeps,
  context: TurnContext,
): Promise<CommitOutcome | undefined> => {
  const calls = detachedCalls(context.turn.state);
  if (calls.length === 0) return undefined;
  const used = await livingSandbox(ports, context);
  const lazySandbox = knownSandbox(used);
  const look = { context, used, lazySandbox };
  const running = new Map(
    calls.map((call): [CallId, Promise<CallStep>] => [call.callId, lookAt(ports, look, call)]),
  );
  const work = {
    context,
    lazySandbox,
    toolTimes: noTimes,
    relay: progressRelay(ports, context),
  };
  const outcome = await collectToolResults(ports, work, running);
  const hasMoved = outcome.status !== 'current' || outcome.context.turn.version !== context.turn.version;
  if (hasMoved || context.monitor.interruption() !== undefined) return outcome;
  // Files that a detached call writes are saved here alone. A failure is counted, and the next look saves again, as after a save
  // that takes longer than this function has.
  const { signal } = context.monitor;
  if (used !== undefined) await unlessAborted(signal, checkpointAgain(ports, used, turnOf(context.turn)));
  return undefined;
};

/** The sandbox as it was found: none is started. */
const knownSandbox = (used: UsedSandbox | undefined): LazySandbox => ({
  get: () => (used === undefined ? Promise.reject(new Error('there is no sandbox')) : Promise.resolve(used)),
  current: () => used,
  takeLog: () => [],
  takeLosses: () => undefined,
  leave: () => Promise.resolve(),
});

type Look = {
  readonly context: TurnContext;
  readonly used: UsedSandbox | undefined;
  readonly lazySandbox: LazySandbox;
};

const lookAt = async (ports: LoopDeps, look: Look, call: DetachedCall): Promise<CallStep> => {
  const { context, used, lazySandbox } = look;
  const { callId, wait } = call;
  const { id } = context.session;
  const printed = async (): Promise<string> => (await printedIn(ports, id, context.turn.state))[callId] ?? '';
  const fail = (code: string, message: string): CallStep =>
    withNotice({ type: 'call-failed', at: ports.world.now(), callId, code, message }, wait.notice);
  if (used === undefined || used.sandbox.generation !== call.generation)
    return fail(unknownOutcome.code, tellPrinted(unknownOutcome.message, await printed()));
  const step = await runCall(ports, {
    ...{ effect: call, session: context.session, isAllowed: true, lazySandbox },
    printed,
    ...{ onProgress: () => undefined, signal: new AbortController().signal, ...noTimes, since: wait.since },
  });
  if (step.type !== 'call-detached') return withNotice(step, wait.notice);
  if (ports.world.now() < wait.endsBy) return step;
  await ports.tools.cancel(used.sandbox, call.key);
  const killed = 'it exceeded its timeout and was killed';
  return fail('execution_timeout', tellPrinted(killed, await printed()));
};
