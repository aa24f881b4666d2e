/**
 * Changes the money that a session and the sessions below it may spend (TM6): of a root the limit of its tree, of a child the slice of its
 * branch. A turn that runs reads it with its next step: the entry in the log has that step's write read the session again.
 */
import type { Principal } from '../../domain/principal.ts';
import { type Session, totalsOf } from '../../domain/session.ts';
import {
  costUsdMaxOf,
  type LimitsChange,
  type SessionTree,
  treeUsdMaxOf,
} from '../../domain/session-tree.ts';
import { anyUsd, withSliceOf } from '../../domain/tree-slice.ts';
import { audit } from '../access/audit.ts';
import { sessionNotFound } from '../access/find-session.ts';
import type { AuditDeps, Deps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';
import { descendantsOf } from './read-session-tree.ts';

type BudgetDeps = AuditDeps & Parameters<typeof appendAndPublish>[0] & Deps<'sessions' | 'trees'>;

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
  const below = await descendantsOf(ports.sessions, session);
  const tree = await sliceOf(ports, [session, ...below], costUsdMax);
  const changed = await change(ports, session, { ...(tree && { tree }), limits, costUsdMax: after });
  if (changed === undefined) throw sessionNotFound();
  await audit(ports, principal, {
    action: 'session.budget',
    subject: session.id,
    project: session.project,
    detail: { sessionId: session.id, maxCostUsd: after, before },
  });
  for (const child of below) {
    if (session.tree === undefined) await follow(ports, child, { before, after, operatorUsdMax });
    if (tree !== undefined) await join(ports, child, { top: session, costUsdMax: after });
  }
  return changed;
};

/** The branch of a child has a slice from now on, in which all that it has spent counts. It is written before any session names it. */
const sliceOf = async (
  { trees }: BudgetDeps,
  branch: readonly [Session, ...Session[]],
  costUsdMax: number | null,
): Promise<SessionTree | undefined> => {
  const [top] = branch;
  if (top.tree === undefined) return undefined;
  const isGiven = top.tree.slices?.includes(top.id) === true;
  if (costUsdMax === null && !isGiven) return undefined;
  const spentUsd = branch.reduce((sum, session) => sum + totalsOf(session).costUsd, 0);
  await trees.limitSlice(top.tree.root, { session: top.id, usdMax: costUsdMax ?? anyUsd, spentUsd });
  return withSliceOf(top.tree, top);
};

/** Below a root: its limit, or the less that it was given. */
const follow = async (
  ports: BudgetDeps,
  child: Session,
  { before, after, operatorUsdMax }: { before: number; after: number; operatorUsdMax: number },
): Promise<void> => {
  const was = treeUsdMaxOf(child, operatorUsdMax);
  const next = was === before ? after : Math.min(was, after);
  if (next === was) return;
  const limits = { ...child.limits, costUsdMax: next };
  await change(ports, child, { limits, costUsdMax: costUsdMaxOf({ limits }, operatorUsdMax) });
};

/** Below a child: within its slice. */
const join = async (
  ports: BudgetDeps,
  child: Session,
  { top, costUsdMax }: { readonly top: Session; readonly costUsdMax: number },
): Promise<void> => {
  const tree = child.tree && withSliceOf(child.tree, top);
  if (tree !== undefined && tree !== child.tree) await change(ports, child, { tree, costUsdMax });
};

const change = async (
  ports: BudgetDeps,
  { id }: Session,
  { costUsdMax: maxCostUsd, ...changes }: LimitsChange & { readonly costUsdMax: number },
): Promise<Session | undefined> => {
  const { limits } = changes;
  const isWithout = limits !== undefined && Object.keys(limits).length === 0;
  const changed = await ports.sessions.change(id, isWithout ? { ...changes, limits: undefined } : changes);
  const data = { kind: 'budget_changed', maxCostUsd };
  if (changed !== undefined) await appendAndPublish(ports, id, [{ type: 'system', data }]);
  return changed;
};
