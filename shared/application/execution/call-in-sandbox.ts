/**
 * Runs one tool in the sandbox of a session, whichever kind: saves the workspace while it runs and once more before the
 * answer, and says what was lost before it. A call of which no attempt sent a byte was never started: it is sent once more,
 * to the sandbox that the session has then.
 */

import type { ToolContent } from '../../domain/event-log.ts';
import { isFirstGeneration } from '../../domain/generation.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Session } from '../../domain/session.ts';
import { tellPrinted, withPrinted } from '../../domain/turn/printed.ts';
import { AppError, isErrorCode } from '../../errors.ts';
import type { ToolOutcome, ToolProgress } from '../../ports/sandbox.ts';
import type { ExecutionDeps } from '../deps.ts';
import type { AcquiredSandbox } from '../sandbox/acquire-sandbox.ts';
import type { EnteredSandbox } from '../sandbox/acquire-with-heartbeat.ts';
import { callUntilKnown } from '../sandbox/call-until-outcome-known.ts';
import { lossesForClient, recordClientLossNotice } from '../sandbox/record-loss-notice.ts';
import { keepSaving, saveAfter, savedAs } from '../sandbox/save-workspace.ts';
import { onRelayWanted } from '../sandbox/start-relay.ts';

export type SandboxCallOptions = {
  /** A repeat under the same key gets the first result. */
  readonly key: string;
  readonly opened: EnteredSandbox;
  /** The sandbox that the session has by then. */
  readonly reopen: () => Promise<EnteredSandbox>;
  readonly tool: string;
  readonly args: JsonObject;
  readonly signal?: AbortSignal;
  readonly onProgress: (progress: ToolProgress) => void;
};

export type Ran = {
  readonly content: readonly ToolContent[];
  readonly structured: JsonObject;
  /** The sandbox of the session's last call is lost, and all that ran in it. */
  readonly stateLost: boolean;
  /** Of the sandbox in which it ran. */
  readonly generation: number;
  /** Files that were not restored or could not be saved. */
  readonly notices: readonly string[];
};

export const callInSandbox = async (
  ports: ExecutionDeps,
  session: Session,
  options: SandboxCallOptions,
): Promise<Ran> => {
  const { opened, reopen, signal } = options;
  const first = await beside(recordBegin(ports, session, opened), () => callIn(ports, session, options));
  if (!isUnsent(first.outcome) || signal?.aborted) return ranIn(ports, session, { opened, called: first });
  const next = { ...startOf(opened), ...(await reopen()) };
  const isOther = next.sandbox.generation !== opened.sandbox.generation;
  const again = await beside(next.recorded, () => callIn(ports, session, { ...options, opened: next }));
  const ran = await ranIn(ports, session, { opened: next, called: again });
  return { ...ran, stateLost: ran.stateLost || isOther };
};

/** The start that a caller has to tell, though its call goes to another sandbox; what that one tells includes it. */
const startOf = ({ start, losses }: AcquiredSandbox): Pick<AcquiredSandbox, 'start' | 'losses'> => ({
  ...(start === undefined ? {} : { start }),
  ...(losses === undefined ? {} : { losses }),
});

/** The program need not wait for the records of its begin. They are written in sequence: both change the session. */
const recordBegin = async (
  { sessions }: ExecutionDeps,
  { id, status }: Session,
  { recorded }: EnteredSandbox,
): Promise<void> => {
  await recorded;
  if (status === 'creating') await sessions.recordRunning(id);
};

/** Ends after both: a record that came later could undo that of the end. */
const beside = async <T>(recorded: Promise<void>, work: () => Promise<T>): Promise<T> => {
  const [done, written] = await Promise.allSettled([work(), recorded]);
  if (done.status === 'rejected') throw done.reason;
  if (written.status === 'rejected') throw written.reason;
  return done.value;
};

const isUnsent = (outcome: ToolOutcome): boolean => outcome.status === 'lost' && outcome.isUnsent === true;

/**
 * The last call of the session ran in another sandbox. Where that is not known, this one took the place of an earlier one, and this
 * caller is the first of its session to hear of it.
 */
export const isStateLost = (session: Session, opened: AcquiredSandbox): boolean => {
  const { generation } = opened.sandbox;
  if (session.calledIn !== undefined) return session.calledIn !== generation;
  const isHeard = opened.start !== undefined || lossesForClient(session, opened) !== undefined;
  return isHeard && !isFirstGeneration(generation);
};

const lossNotices = (session: Session, opened: AcquiredSandbox): readonly string[] =>
  [lossesForClient(session, opened)?.notice].filter((notice) => notice !== undefined);

type Called = { readonly outcome: ToolOutcome; readonly startedAt: number; readonly printed: string };

const callIn = async (
  ports: ExecutionDeps,
  session: Session,
  { key, opened: { sandbox, workspace }, tool, args, signal, onProgress }: SandboxCallOptions,
): Promise<Called> => {
  refuseCancelled(signal);
  const startedAt = ports.world.now();
  const saving = keepSaving(ports, sandbox);
  let printed = '';
  const call = {
    sandbox,
    callKey: `${session.id}/${key}`,
    name: tool,
    args,
    ...savedAs(ports, workspace),
    onProgress: (progress: ToolProgress): void => {
      printed = withPrinted(printed, progress.text);
      onProgress(progress);
    },
    onRelayWanted: onRelayWanted(ports.invoker, sandbox, { ...ports, sessionId: session.id }),
    ...(signal === undefined ? {} : { signal }),
  };
  const outcome = await callUntilKnown(ports, call).finally(saving.stop);
  ports.telemetry.duration('ToolCallMs', ports.world.now() - startedAt);
  if (outcome.status !== 'finished') ports.telemetry.count('ToolCallsFailed');
  return { outcome, startedAt, printed };
};

type RanIn = { readonly opened: AcquiredSandbox; readonly called: Called };

const ranIn = async (
  ports: ExecutionDeps,
  session: Session,
  { opened, called: { outcome, startedAt, printed } }: RanIn,
): Promise<Ran> => {
  const ended = resultOf(outcome, printed);
  const { sandbox, workspace } = opened;
  const asSaved = outcome.status === 'finished' ? outcome.asSaved : undefined;
  const saved = await saveAfter(ports, { sandbox, workspace, startedAt, asSaved });
  await recordClientLossNotice(ports, session, opened.losses);
  return {
    ...ended,
    stateLost: isStateLost(session, opened),
    generation: sandbox.generation,
    notices: [
      ...lossNotices(session, opened),
      ...(saved.status === 'failed' ? [`[The workspace was not saved: ${saved.message}.]`] : []),
      ...(saved.sharedFailed === undefined
        ? []
        : [`[The shared volume was not saved: ${saved.sharedFailed}.]`]),
    ],
  };
};

/** A call that was cancelled while its sandbox started does not begin. */
export const refuseCancelled = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw new AppError('conflict', 'the call was cancelled; it did not run');
};

/** A limit that was reached is a result with the output and its error; a refusal, with facts or none, or a lost sandbox is not. */
const resultOf = (outcome: ToolOutcome, printed: string): Pick<Ran, 'content' | 'structured'> => {
  if (outcome.status === 'finished')
    return { content: outcome.content, structured: outcome.structured ?? {} };
  if (outcome.status === 'failed' && outcome.structured?.['error'] !== undefined)
    return { content: [], structured: outcome.structured };
  if (isUnsent(outcome))
    throw new AppError('sandbox_unavailable', `${outcome.message}; the call did not run`);
  const code =
    outcome.status === 'failed' && isErrorCode(outcome.code) ? outcome.code : 'tool_outcome_unknown';
  const message = outcome.status === 'lost' ? tellPrinted(outcome.message, printed) : outcome.message;
  throw new AppError(code, message, {
    suggestions: ['Check the workspace before you run it again.'],
    recoveryActions: ['retry_operation'],
  });
};
