/**
 * Moves a turn by one event for somebody who holds no lease: a decision, an answer from outside. Made again on what
 * another wrote meanwhile, and counted once.
 */

import type { AuditRow } from '../../domain/audit.ts';
import type { FeaturesSeen } from '../../domain/features.ts';
import type { Session } from '../../domain/session.ts';
import { withOwnMoney } from '../../domain/tree-limits.ts';
import { pendingWork } from '../../domain/turn/pending-work.ts';
import { reduce } from '../../domain/turn/reduce.ts';
import type { TurnEvent, TurnLimits, TurnRecord, TurnState } from '../../domain/turn/turn.ts';
import type { Invoker } from '../../ports/invoker.ts';
import { type CommitPorts, commitUnleased } from './commit-unleased.ts';
import { wakeParent } from './wake-parent.ts';

export type MovePorts = CommitPorts & { readonly invoker: Invoker };

export type Found = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly seen?: FeaturesSeen | undefined;
};

export type Move = {
  /** Undefined when there is nothing to say to this state. */
  readonly eventFor: (state: TurnState, at: number) => TurnEvent | undefined;
  /** Rows of the audit log that are written with the step. */
  readonly auditsOf?: () => readonly AuditRow[];
  readonly correlationId: string;
  /** The event may be the turn's last step. */
  readonly limits: TurnLimits;
};

const racesMax = 5;

/** `late`: the turn is past it, or was never there. */
export const moveTurn = async (ports: MovePorts, found: Found, move: Move): Promise<'moved' | 'late'> => {
  let current: Found | undefined = found;
  for (let race = 0; race < racesMax && current !== undefined; race += 1) {
    const result = await tryMove(ports, current, move);
    if (result !== 'raced') return result;
    const again = await ports.sessions.getWithTurn(found.session.id);
    current = again && { ...again, seen: found.seen };
  }
  return 'late';
};

const tryMove = async (
  ports: MovePorts,
  { session, turn, seen }: Found,
  { eventFor, auditsOf, correlationId, limits }: Move,
): Promise<'moved' | 'late' | 'raced'> => {
  const at = ports.world.now();
  const event = eventFor(turn.state, at);
  const step = event && reduce(turn.state, event, withOwnMoney(limits, session));
  if (step === undefined || step.ignored !== undefined) return 'late';
  const inbox = step.state.kind === 'done' ? (await ports.sessions.loadWork(session.id)).inbox : [];
  const completed = inbox.find(
    ({ messageId }) => 'messageId' in turn.state && messageId === turn.state.messageId,
  );
  const wakes = pendingWork(step.state).length > 0 || inbox.length > 1;
  const patch = {
    lastActiveAt: at,
    ...(step.state.kind === 'done' && !wakes ? { status: 'idle' as const } : {}),
  };
  const audits = auditsOf?.() ?? [];
  const commit = { session, turn, seen, step, at, completed, patch, wakes, audits };
  if (!(await commitUnleased(ports, commit))) return 'raced';
  if (wakes) await ports.invoker.runTurn(session.id, correlationId, { seen });
  if (step.state.kind === 'done') await wakeParent(ports, session, correlationId);
  return 'moved';
};
