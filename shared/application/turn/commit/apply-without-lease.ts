/**
 * Applies an event to a turn for a caller that holds no lease: a decision, an answer of a client. Repeated on what another
 * caller wrote concurrently, and counted once.
 */

import type { AuditRow } from '../../../domain/audit.ts';
import type { FeaturesSeen } from '../../../domain/features.ts';
import type { Session } from '../../../domain/session.ts';
import { withOwnMoney } from '../../../domain/session-tree.ts';
import { completedMessage } from '../../../domain/turn/after-step.ts';
import { pendingWork } from '../../../domain/turn/pending-work.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import type { TurnEvent, TurnLimits, TurnRecord, TurnState } from '../../../domain/turn/turn.ts';
import type { TurnDeps } from '../../deps.ts';
import { commitStep } from './apply-event.ts';
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
  readonly correlationId: string;
  /** The event may be the turn's last step. */
  readonly limits: TurnLimits;
};

const racesMax = 5;

/** `late`: the turn is past it, or was never there. */
export const applyWithoutLease = async (
  ports: TurnDeps,
  found: FoundTurn,
  applied: UnleasedEvent,
): Promise<'applied' | 'late'> => {
  let current: FoundTurn | undefined = found;
  for (let race = 0; race < racesMax && current !== undefined; race += 1) {
    const result = await tryOnce(ports, current, applied);
    if (result !== 'raced') return result;
    const again = await ports.turns.getWithTurn(found.session.id);
    current = again && { ...again, seen: found.seen };
  }
  return 'late';
};

const tryOnce = async (
  ports: TurnDeps,
  { session, turn, seen }: FoundTurn,
  { eventFor, auditsOf, correlationId, limits }: UnleasedEvent,
): Promise<'applied' | 'late' | 'raced'> => {
  const at = ports.world.now();
  const event = eventFor(turn.state, at);
  const step = event && reduce(turn.state, event, withOwnMoney(limits, session));
  if (step === undefined || step.ignored !== undefined) return 'late';
  const isDone = step.state.kind === 'done';
  const inbox = isDone ? (await ports.turns.loadWork(session.id)).inbox : [];
  const completed = completedMessage(turn.state, step, inbox);
  const wakes = pendingWork(step.state).length > 0 || inbox.length > 1;
  const patch = { lastActiveAt: at, ...(isDone && !wakes ? { status: 'idle' as const } : {}) };
  const audits = auditsOf?.() ?? [];
  const commit = { session, turn, seen, step, at, completed, patch, wakes, audits };
  if (!(await commitStep(ports, commit))) return 'raced';
  if (wakes) await ports.invoker.runTurn(session.id, correlationId, { seen });
  if (isDone) await notifyParent(ports, session, correlationId);
  return 'applied';
};
