/**
 * Applies an event to a turn for a caller that holds no lease: a decision, an answer of a client. Repeated on what another
 * caller wrote concurrently, and counted once.
 */

import type { AuditRow } from '../../../domain/audit.ts';
import type { FeaturesSeen } from '../../../domain/features.ts';
import type { Session } from '../../../domain/session.ts';
import { withOwnMoney } from '../../../domain/session-tree.ts';
import { slotHolderOf } from '../../../domain/slot-holder.ts';
import { pendingWork } from '../../../domain/turn/pending-work.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import { activityAt, completedMessage, messagesBehind } from '../../../domain/turn/session-after-step.ts';
import type { TurnEvent, TurnLimits, TurnRecord, TurnState } from '../../../domain/turn/turn.ts';
import { noFreeSlot } from '../../access/find-session.ts';
import type { MessageDeps } from '../../deps.ts';
import { keepFrames, openPublisher } from '../../events/publisher.ts';
import { makeRoom } from '../../sandbox/make-room.ts';
import { raceLost, untilWon } from '../../write-race.ts';
import { commitStepInSlot } from './apply-event.ts';
import { chainedTo } from './chain-audits.ts';
import { notifyParent } from './notify-parent.ts';

export type FoundTurn = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly seen?: FeaturesSeen | undefined;
};

export type UnleasedEvent = {
  /** Undefined when no event fits this state. */
  readonly eventFor: (state: TurnState, at: number) => TurnEvent | undefined;
  /** Rows of the audit log that are written with the step. */
  readonly auditsOf?: () => readonly AuditRow[];
  /** The event may be the turn's last step. */
  readonly limits: TurnLimits;
};

/** `late`: the turn is past it, or was never there. */
export const commitWithoutLease = async (
  ports: MessageDeps,
  found: FoundTurn,
  applied: UnleasedEvent,
): Promise<'applied' | 'late'> => {
  const attempt = async (race: number) => {
    const current = race === 0 ? found : await ports.turns.getWithTurn(found.session.id);
    return current === undefined ? 'late' : tryOnce(ports, { ...current, seen: found.seen }, applied);
  };
  return untilWon<'applied' | 'late'>(attempt, () => 'late');
};

const tryOnce = async (
  ports: MessageDeps,
  { session, turn, seen }: FoundTurn,
  { eventFor, auditsOf, limits }: UnleasedEvent,
): Promise<'applied' | 'late' | typeof raceLost> => {
  const at = ports.world.now();
  const event = eventFor(turn.state, at);
  const step = event && reduce(turn.state, event, withOwnMoney(limits, session));
  if (step === undefined || step.ignored !== undefined) return 'late';
  const isDone = step.state.kind === 'done';
  const inbox = isDone ? (await ports.turns.loadWork(session.id)).inbox : [];
  const completed = completedMessage(turn.state, step, inbox);
  const wakes = pendingWork(step.state).length > 0 || messagesBehind(inbox, completed).length > 0;
  const patch = activityAt(at, { isIdle: isDone && !wakes });
  const { audits, ...chained } = chainedTo(turn.decided, auditsOf?.() ?? [], ports.world.sha256);
  // The end of a turn is published at once: a function that comes late would publish it during the next.
  const left = wakes && !isDone ? keepFrames(openPublisher(ports, session)) : undefined;
  const commit = { session, turn, seen, step, at, completed, patch, wakes, audits, ...chained };
  const single = { ...commit, ...(left && { publisher: left.publisher }) };
  const committed = await commitStepInSlot(ports, single, ports.slotLimits.agentMax);
  if (committed === 'full') await roomFor(ports, session);
  if (typeof committed !== 'object') return raceLost;
  const frames = await left?.taken();
  if (wakes) await ports.invoker.runTurn(session.id, { seen, frames });
  if (isDone) await notifyParent(ports, session);
  return 'applied';
};

/** A turn that goes on works again: the caller hears when it cannot, and the call still waits. */
const roomFor = async (ports: MessageDeps, session: Session): Promise<void> => {
  if (await makeRoom(ports, { holder: slotHolderOf(session) })) return;
  throw noFreeSlot('agent', ports.slotLimits.agentMax);
};
