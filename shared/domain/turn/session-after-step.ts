/**
 * Derives what a step of a turn changes beside the turn: in its session, in its inbox, and in the money of its tree. The
 * same for the holder of the lease and for a caller without one.
 */
import { type Completion, completionOf, isRepetition } from '../event-log.ts';
import type { MessageId } from '../ids.ts';
import { type Session, slicesOf, titleOf, treeOf } from '../session.ts';
import type { TreeSpend } from '../tree-budget.ts';
import { tokensOf } from '../tree-slice.ts';
import { grantsInForce } from './approval-policy.ts';
import { addUsage, keptCalls } from './call-queue.ts';
import { detachedCalls, isWaitingAlone, pendingWork } from './pending-work.ts';
import { type EventOf, isBetweenTurns, type TurnEvent, type TurnState, type TurnStep } from './turn.ts';

type Step = Pick<TurnStep, 'state' | 'log'>;
type Waiting = { readonly messageId: MessageId };

type SessionChange = Partial<
  Pick<
    Session,
    | 'status'
    | 'usage'
    | 'costUsd'
    | 'grants'
    | 'lastActiveAt'
    | 'lastStopReason'
    | 'title'
    | 'runningCalls'
    | 'waits'
  >
>;

/**
 * Usage, cost, grants and the reason of its end that a turn leaves to its session when it ends with this step; nothing while
 * it runs, but for the calls that no function waits for.
 */
export const afterStep = (session: Session, before: TurnState, { log, state }: Step): SessionChange => {
  const completion = completionOf(log);
  const running = { ...runningCallsBy(session, state), ...waitsBy(session, state) };
  if (completion === undefined) return running;
  return {
    ...running,
    lastStopReason: completion.stopReason,
    ...('runtime' in before && before.runtime !== undefined ? {} : bill(session, completion)),
    ...('policy' in before ? { grants: before.policy.grants.filter(({ id }) => !isWithdrawn(log, id)) } : {}),
  };
};

/** The step that ends a turn may be the withdrawal of a grant. */
const isWithdrawn = (log: Step['log'], grant: string): boolean =>
  log.some(
    ({ type, data }) => type === 'system' && data.kind === 'grant_withdrawn' && data['grantId'] === grant,
  );

/** The same in a session whose record may be older than its turn: as the state has it, whatever the record says. */
export const afterUnleasedStep = (session: Session, before: TurnState, step: Step): SessionChange => ({
  waits: isWaitingAlone(step.state),
  runningCalls: runningCallsOf(step.state),
  ...afterStep(session, before, step),
});

/** Its sandbox stops soon while only a person can move the turn. */
const waitsBy = (session: Session, state: TurnState): Pick<SessionChange, 'waits'> => {
  const waits = isWaitingAlone(state);
  return waits === (session.waits ?? false) ? {} : { waits };
};

/** Detached calls count as running until they have ended: no sandbox is idle with one (L5). */
const runningCallsBy = (session: Session, state: TurnState): Pick<SessionChange, 'runningCalls'> => {
  const runningCalls = runningCallsOf(state);
  const isSame = JSON.stringify(runningCalls) === JSON.stringify(session.runningCalls);
  return isSame ? {} : { runningCalls };
};

const runningCallsOf = (state: TurnState): Session['runningCalls'] =>
  Object.fromEntries(detachedCalls(state).map(({ key, wait }) => [key, wait.endsBy]));

/** The change that every step of the lease's holder makes in its session. */
export const afterHeldStep = (
  session: Session,
  before: TurnState,
  {
    event,
    step,
    isInboxEmpty,
  }: { readonly event: TurnEvent; readonly step: Step; readonly isInboxEmpty: boolean },
): SessionChange => ({
  ...titleBy(session, event),
  // Of functions whose clocks differ, one may have seen it later: the write would be refused once.
  lastActiveAt: Math.max(session.lastActiveAt, event.at),
  grants: grantsInForce(session, { state: before }),
  status: step.state.kind === 'done' && isInboxEmpty ? 'idle' : 'running',
  ...('spentUsd' in step.state && step.state.runtime === undefined ? { costUsd: step.state.spentUsd } : {}),
  ...afterStep(session, before, step),
});

const bill = (session: Session, { usage, sessionCostUsd }: Completion): SessionChange => ({
  usage: addUsage(session.usage, usage),
  costUsd: sessionCostUsd,
});

/** The first message that is taken up gives the session its title. */
const titleBy = ({ title: known }: Session, event: TurnEvent): Pick<SessionChange, 'title'> => {
  const title = known === undefined && event.type === 'started' ? titleOf(event.message.text) : undefined;
  return title === undefined ? {} : { title };
};

/** The message that the running turn answers. */
export const currentMessage = <Message extends Waiting>(
  state: TurnState,
  inbox: readonly Message[],
): Message | undefined =>
  'messageId' in state ? inbox.find(({ messageId }) => messageId === state.messageId) : undefined;

/** The message that a step completes. A turn that ends with its first step completes the message it began with. */
export const completedMessage = <Message extends Waiting>(
  before: TurnState,
  { state, log }: Step,
  inbox: readonly Message[],
): Message | undefined => {
  if (state.kind !== 'done') return undefined;
  if (!isBetweenTurns(before)) return currentMessage(before, inbox);
  const question = log.find((entry) => entry.type === 'message' || isRepetition(entry));
  const id =
    question?.type === 'message' || question?.type === 'system' ? question.data['messageId'] : undefined;
  return inbox.find(({ messageId }) => messageId === id);
};

/** The messages that wait behind the one that a step completes: a session with any is not idle. */
export const messagesBehind = <Message extends Waiting>(
  inbox: readonly Message[],
  completed: Message | undefined,
): readonly Message[] => inbox.filter((message) => message !== completed);

/** The change of a session by a step without the lease: its time, and that the session is idle from then on. */
export const activityAt = (
  at: number,
  { isIdle }: { readonly isIdle: boolean },
): Pick<SessionChange, 'lastActiveAt' | 'status'> => ({
  lastActiveAt: at,
  ...(isIdle ? { status: 'idle' } : {}),
});

/** A turn that waits for a person, or a finished one with no message after it, keeps no function running. */
export const hasNothingToDo = (state: TurnState, inbox: readonly Waiting[]): boolean =>
  pendingWork(state).length === 0 && (!isBetweenTurns(state) || inbox.length === 0);

/**
 * True of a step by which a turn begins, goes on after its calls, or ends: the session's limit of money is weighed before the model is
 * asked. An answer of the model is paid, whatever the limit is by then (TM6).
 */
export const weighsMoney = (before: TurnState, after: TurnState): boolean =>
  before.kind !== 'thinking' && (after.kind === 'thinking' || after.kind === 'done');

/**
 * The money that a session's tree spent on a call of the model, or may have spent on one that failed. The money of a program that carries a
 * turn is counted by the broker, its calls of tools here.
 */
export const spendOf = (session: Session, event: TurnEvent): TreeSpend | undefined => {
  const root = treeOf(session);
  if (root === undefined) return undefined;
  const slices = slicesOf(session);
  const of = { root, slices };
  if (event.type === 'model-answered')
    return {
      ...of,
      ...{ usd: event.costUsd, unsettledUsd: event.unsettledUsd },
      ...(slices === undefined ? {} : usedBy(event)),
    };
  if (event.type === 'runtime-moved')
    return slices === undefined || event.toolCalls === 0
      ? undefined
      : { ...of, usd: 0, toolCalls: event.toolCalls, isUnreserved: true };
  if (event.type !== 'model-failed' && event.type !== 'cancelled') return undefined;
  const { known, unsettledUsd, unsettledTokens } = event;
  // A turn that is cancelled while no model is asked has no call.
  const isOfCall = [known, unsettledUsd, unsettledTokens].some((part) => part !== undefined);
  if (event.type === 'cancelled' && !isOfCall) return undefined;
  const tokens = slices === undefined ? undefined : known && tokensOf(known.usage);
  return { ...of, usd: known?.costUsd ?? 0, unsettledUsd, tokens, unsettledTokens };
};

/** Counted by slices alone. */
const usedBy = (
  answer: EventOf<'model-answered'>,
): Pick<TreeSpend, 'tokens' | 'unsettledTokens' | 'toolCalls'> => ({
  tokens: tokensOf(answer.usage),
  unsettledTokens: answer.unsettledTokens,
  toolCalls: keptCalls(answer).length,
});
