/**
 * Changes the money that a session and the sessions below it may spend (TM6). A turn that runs reads it with its next step: the entry
 * in the log has that step's write read the session again.
 */
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { costUsdMaxOf, type SessionLimits } from '../../domain/session-tree.ts';
import { audit } from '../access/audit.ts';
import { sessionNotFound } from '../access/find-session.ts';
import type { AuditDeps, Deps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';
import { descendantsOf } from './read-session-tree.ts';

type BudgetDeps = AuditDeps & Parameters<typeof appendAndPublish>[0] & Deps<'sessions'>;

export type BudgetChange = {
  readonly principal: Principal;
  /** US dollars; null: no limit of its own, so that its project's holds. */
  readonly costUsdMax: number | null;
  readonly operatorUsdMax: number;
};

export const changeBudget = async (
  ports: BudgetDeps,
  session: Session,
  { principal, costUsdMax, operatorUsdMax }: BudgetChange,
): Promise<Session> => {
  const { ownCostUsdMax: _, ...others } = session.limits ?? {};
  const limits = costUsdMax === null ? others : { ...others, ownCostUsdMax: costUsdMax };
  const before = costUsdMaxOf(session, operatorUsdMax);
  const after = costUsdMaxOf({ limits }, operatorUsdMax);
  const changed = await setLimits(ports, session, { limits, operatorUsdMax });
  if (changed === undefined) throw sessionNotFound();
  await audit(ports, principal, {
    action: 'session.budget',
    subject: session.id,
    project: session.project,
    detail: { sessionId: session.id, maxCostUsd: after, before },
  });
  for (const child of await descendantsOf(ports.sessions, session)) {
    const was = costUsdMaxOf(child, operatorUsdMax);
    // One that was given less keeps that.
    const next = was === before ? after : Math.min(was, after);
    const given = { ...child.limits, costUsdMax: next };
    if (next !== was) await setLimits(ports, child, { limits: given, operatorUsdMax });
  }
  return changed;
};

const setLimits = async (
  ports: BudgetDeps,
  { id }: Session,
  { limits, operatorUsdMax }: { readonly limits: SessionLimits; readonly operatorUsdMax: number },
): Promise<Session | undefined> => {
  const data = { kind: 'budget_changed', maxCostUsd: costUsdMaxOf({ limits }, operatorUsdMax) };
  const changed = await ports.sessions.change(id, {
    limits: Object.keys(limits).length === 0 ? undefined : limits,
  });
  if (changed !== undefined) await appendAndPublish(ports, id, [{ type: 'system', data }]);
  return changed;
};
