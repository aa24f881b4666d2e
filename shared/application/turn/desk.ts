/**
 * The desk: what a turn function has in front of it while it holds the lease of a session.
 *
 * `advance` is the only way forward: reduce an event, commit what follows in one write, then tell the
 * audience. A desk that lost its lease is `stale` and stops; nothing it did half is lost, since the next
 * holder reads the same pending work.
 */
import { eventFrame } from '../../contracts/frames.ts';
import { InvariantError } from '../../domain/assert.ts';
import type { Caller } from '../../domain/caller-tool.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import { type FeaturesSeen, isUnused } from '../../domain/features.ts';
import { droppedByTruncation, type HistoryLimits, type HistoryMessage } from '../../domain/history.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import { titleOf } from '../../domain/session-title.ts';
import { type TreeLimits, withOwnMoney } from '../../domain/tree-limits.ts';
import { addUsage } from '../../domain/turn/calls.ts';
import { firstDeadline, nextChildLook, pendingWork } from '../../domain/turn/pending-work.ts';
import { grantsInForce } from '../../domain/turn/policy.ts';
import { reduce } from '../../domain/turn/reduce.ts';
import type { TurnEvent, TurnLimits, TurnRecord, TurnState } from '../../domain/turn/turn.ts';
import { waitingChange } from '../../domain/turn/waiting.ts';
import { occurrencesOf } from '../../domain/webhook/notice.ts';
import type { CheckpointNote, InboxMessage, SessionPatch, SessionStore } from '../../ports/session-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { World } from '../../ports/world.ts';
import type { Audience } from '../events/audience.ts';
import { noticesOf, sendNotices, type TellPorts } from '../events/tell-webhooks.ts';
import { noteStep } from './note-step.ts';
import { spentBy } from './tree-budget.ts';

export type DeskLimits = {
  readonly turn: TurnLimits;
  readonly history: HistoryLimits;
  /** The operator's, of trees of sessions. */
  readonly tree: Required<TreeLimits>;
  /** How long an idle session waits for the janitor, in milliseconds. */
  readonly idleMs: number;
};

export type DeskPorts = TellPorts & {
  readonly sessions: SessionStore;
  readonly telemetry: Telemetry;
  readonly world: Pick<World, 'now'>;
};

/** A sandbox and its workspace as it was read when the sandbox was found ready. */
export type UsedSandbox = { readonly sandbox: LiveSandbox; readonly workspace: Workspace };

export type Desk = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly history: readonly HistoryMessage[];
  readonly inbox: readonly InboxMessage[];
  readonly callers: readonly Caller[];
  /** The features of the deployment, as the function that woke this one saw them. */
  readonly seen?: FeaturesSeen | undefined;
  readonly audience: Audience;
  /** Where tools ran since the workspace was last saved. */
  readonly used?: UsedSandbox;
  /**
   * `held`: go on. `reload`: work came that is not on the desk. `moved`: somebody else moved the turn.
   * `unsaved`: the checkpoint it names does not follow the last one; nothing was written. `left`: the lease is
   * gone, given back or lost.
   */
  readonly lease: 'held' | 'reload' | 'moved' | 'unsaved' | 'left';
};

/** Whether its holder goes on with it. */
export const isHeld = ({ lease }: Desk): boolean => lease === 'held' || lease === 'reload';

/** A turn that waits for a client is looked at when that is over its time, one that waits for a child now and then. */
export const nextLook = (state: TurnState, at: number, { idleMs }: Pick<DeskLimits, 'idleMs'>): number =>
  Math.min(
    ...[at + idleMs, firstDeadline(state), nextChildLook(state, at)].filter((time) => time !== undefined),
  );

/** The message the running turn answers. */
export const currentMessage = ({ turn: { state }, inbox }: Desk): InboxMessage | undefined =>
  'messageId' in state ? inbox.find(({ messageId }) => messageId === state.messageId) : undefined;

/** A turn that ends as it begins, because no money is left, answers the message it began with. */
const answeredMessage = (desk: Desk, event: TurnEvent): InboxMessage | undefined =>
  event.type === 'started'
    ? desk.inbox.find(({ messageId }) => messageId === event.message.messageId)
    : currentMessage(desk);

export const isBetweenTurns = ({ kind }: TurnState): boolean => kind === 'idle' || kind === 'done';

export type Advance = {
  readonly desk: Desk;
  readonly event: TurnEvent;
  readonly limits: DeskLimits;
  readonly said?: readonly LogEntry[];
  /** More follows at once: the lease stays. */
  readonly keeps?: boolean;
  /** A checkpoint that this write makes known. */
  readonly note?: CheckpointNote | undefined;
};

export const advance = async (
  ports: DeskPorts,
  { desk, event, limits, said = [], note, keeps = false }: Advance,
): Promise<Desk> => {
  const { sessions, telemetry } = ports;
  const { session, turn } = desk;
  const step = reduce(turn.state, event, withOwnMoney(limits.turn, session));
  // A holder's own events always apply: one that does not would be performed again without end.
  if (step.ignored !== undefined) throw new InvariantError(`the turn ignored ${event.type}: ${step.ignored}`);
  const completed = step.state.kind === 'done' ? answeredMessage(desk, event) : undefined;
  const inbox = desk.inbox.filter((message) => message !== completed);
  const history = [...desk.history, ...step.history];
  const dropped = Math.min(droppedByTruncation(history, limits.history), desk.history.length);
  const first = turn.historyNext - desk.history.length;
  const release = !keeps && hasNothingToDo(step.state, inbox);
  const waiting = waitingChange(turn.state, step.state);
  const occurrences = occurrencesOf({ session, before: turn.state, ...step });
  const isWithout = (feature: 'webhooks' | 'approvers') => isUnused(desk.seen, feature, ports.world.now());
  const notices = isWithout('webhooks') ? [] : await noticesOf(ports, occurrences, event.at);
  const result = await sessions.commitTurn({
    session,
    waiting,
    notices,
    fence: session.lease.fence,
    version: turn.version,
    state: step.state,
    historyNext: turn.historyNext,
    historyFrom: first + dropped,
    historyKept: turn.historyKept,
    parts: turn.parts,
    at: event.at,
    log: [...said, ...step.log],
    history: step.history,
    ...(note === undefined ? {} : { note }),
    spends: spentBy(session, event),
    completed,
    patch: {
      ...titleBy(session, event),
      ...patchAfter(desk, step.state, { at: event.at, isInboxEmpty: inbox.length === 0, log: step.log }),
    },
    release,
    wakes: false,
    dueAt: nextLook(step.state, event.at, limits),
  });
  if (result.status === 'moved' || result.status === 'unsaved') return { ...desk, lease: result.status };
  if (result.status === 'stale') {
    telemetry.count('LeasesLost');
    return { ...desk, lease: 'left' };
  }
  noteStep(telemetry, { session, before: turn.state, step, at: event.at, completed });
  await sendNotices(ports, notices);
  await desk.audience.tell(result.events.map((logged) => eventFrame(session.id, logged)));
  if (waiting !== undefined && !isWithout('approvers')) await desk.audience.waitingChanged(session.project);
  const isReleased = result.status === 'committed' && release;
  const lease = isReleased ? 'left' : result.status === 'kept' ? 'reload' : 'held';
  return {
    ...desk,
    session: result.session,
    turn: result.turn,
    history: history.slice(dropped),
    inbox,
    lease,
  };
};

/** A turn that waits for a human, or a finished one with no message after it, keeps no function running. */
const hasNothingToDo = (state: TurnState, inbox: readonly InboxMessage[]): boolean =>
  pendingWork(state).length === 0 && (!isBetweenTurns(state) || inbox.length === 0);

/** The first message that is taken up gives the session its title. */
const titleBy = ({ title: known }: Session, event: TurnEvent): Pick<SessionPatch, 'title'> => {
  const title = known === undefined && event.type === 'started' ? titleOf(event.message.text) : undefined;
  return title === undefined ? {} : { title };
};

const patchAfter = (
  { session, turn }: Desk,
  state: TurnState,
  { at, isInboxEmpty, log }: { at: number; isInboxEmpty: boolean; log: readonly LogEntry[] },
): SessionPatch => {
  const completion = log.find((entry) => entry.type === 'completion');
  return {
    lastActiveAt: at,
    grants: grantsInForce(session, turn),
    status: state.kind === 'done' && isInboxEmpty ? 'idle' : 'running',
    ...('spentUsd' in state ? { costUsd: state.spentUsd } : {}),
    ...(completion?.type === 'completion'
      ? { usage: addUsage(session.usage, completion.data.usage), costUsd: completion.data.sessionCostUsd }
      : {}),
  };
};
