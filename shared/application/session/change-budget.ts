/**
 * Changes the money that a session and the sessions below it may spend (TM6): of a root the limit of its tree, of a child the slice of its
 * branch. A turn that runs reads it with its next step: the entry in the log, which is in the same write, has that step's write read the
 * session again.
 */
import { eventFrame } from '../../contracts/frames.ts';
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
import type { AuditDeps, Deps, PublishDeps } from '../deps.ts';
import { openPublisher } from '../events/publisher.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { descendantsOf } from './show-tree.ts';

type BudgetDeps = AuditDeps & PublishDeps & Deps<'sessions' | 'trees'>;

export type BudgetChange = {
  readonly principal: Principal;
  /** US dollars; null: no limit of its own, so that its project's holds. */
  readonly costUsdMax: number | null;
  readonly operatorUsdMax: number;
};

export const changeBudget = async (
  ports: BudgetDeps,
  session: Session,
  wanted: BudgetChange,
): Promise<Session> => {
  const { principal, operatorUsdMax } = wanted;
  const changed = await changeOwn(ports, session, wanted);
  await audit(ports, principal, {
    action: 'session.budget',
    subject: session.id,
    project: session.project,
    detail: {
      sessionId: session.id,
      maxCostUsd: costUsdMaxOf(changed, operatorUsdMax),
      before: costUsdMaxOf(session, operatorUsdMax),
    },
  });
  await changeBelow(ports, changed, operatorUsdMax);
  return changed;
};

/** Its own limit, whatever is changed concurrently of what it has from above. */
const changeOwn = (
  ports: BudgetDeps,
  session: Session,
  { costUsdMax, operatorUsdMax }: BudgetChange,
): Promise<Session> =>
  untilWon(async (race) => {
    const read = race === 0 ? session : await ports.sessions.get(session.id);
    if (read === undefined) throw sessionNotFound();
    const { ownCostUsdMax: _, ...others } = read.limits ?? {};
    const limits = costUsdMax === null ? others : { ...others, ownCostUsdMax: costUsdMax };
    const tree = await sliceOf(ports, read, costUsdMax);
    return change(ports, read, {
      ...(tree && { tree }),
      limits,
      costUsdMax: costUsdMaxOf({ limits }, operatorUsdMax),
    });
  }, changesTooOften('the session'));

/**
 * The sessions below it have what it has by now. A listing that finds nothing to change is the last: a child that is made
 * after it finds its parent changed (`align-child-with-parent.ts`).
 */
const changeBelow = (ports: BudgetDeps, changed: Session, operatorUsdMax: number): Promise<void> =>
  untilWon(async () => {
    const below = await descendantsOf(ports.sessions, changed);
    const top = below.length === 0 ? undefined : await ports.sessions.get(changed.id);
    if (top === undefined) return undefined;
    const costUsdMax = costUsdMaxOf(top, operatorUsdMax);
    const changes = below.flatMap((child) => {
      const wanted = changeOf(child, { top, costUsdMax, operatorUsdMax });
      return wanted === undefined ? [] : [{ child, wanted }];
    });
    for (const { child, wanted } of changes) await change(ports, child, wanted);
    return changes.length === 0 ? undefined : raceLost;
  }, changesTooOften('the tree'));

/** The branch of a child has a slice from now on, in which all that it has spent counts. It is written before any session names it. */
const sliceOf = async (
  { trees, sessions }: BudgetDeps,
  top: Session,
  costUsdMax: number | null,
): Promise<SessionTree | undefined> => {
  if (top.tree === undefined) return undefined;
  const isGiven = top.tree.slices?.includes(top.id) === true;
  if (costUsdMax === null && !isGiven) return undefined;
  const branch = isGiven ? [] : [top, ...(await descendantsOf(sessions, top))];
  const spentUsd = branch.reduce((sum, session) => sum + totalsOf(session).costUsd, 0);
  await trees.limitSlice(top.tree.root, { session: top.id, usdMax: costUsdMax ?? anyUsd, spentUsd });
  return withSliceOf(top.tree, top);
};

type Top = { readonly top: Session; readonly costUsdMax: number; readonly operatorUsdMax: number };
type Changed = LimitsChange & { readonly costUsdMax: number };

/** Below a root: its limit. Below a child: within its slice. */
const changeOf = (child: Session, { top, costUsdMax, operatorUsdMax }: Top): Changed | undefined => {
  if (top.tree === undefined) {
    if (treeUsdMaxOf(child, operatorUsdMax) === costUsdMax) return undefined;
    const limits = { ...child.limits, costUsdMax };
    return { limits, costUsdMax: costUsdMaxOf({ limits }, operatorUsdMax) };
  }
  const isGiven = top.tree.slices?.includes(top.id) === true;
  const tree = isGiven ? child.tree && withSliceOf(child.tree, top) : undefined;
  return tree === undefined || tree === child.tree ? undefined : { tree, costUsdMax };
};

/** Lost when what it changes is not as it was read, or the session is deleted. */
const change = async (
  ports: BudgetDeps,
  { id, limits: limitsRead, tree: treeRead }: Session,
  { costUsdMax: maxCostUsd, ...changes }: Changed,
): Promise<Session | typeof raceLost> => {
  const { limits } = changes;
  const isWithout = limits !== undefined && Object.keys(limits).length === 0;
  const read = {
    ...('limits' in changes ? { limits: limitsRead } : {}),
    ...('tree' in changes ? { tree: treeRead } : {}),
  };
  const data = { kind: 'budget_changed', maxCostUsd };
  const logged = { read, entries: [{ type: 'system', data }] as const, at: ports.world.now() };
  const changed = await ports.sessions.changeLogged(
    id,
    isWithout ? { ...changes, limits: undefined } : changes,
    logged,
  );
  if (changed === undefined) return raceLost;
  await openPublisher(ports, { id }).publish(changed.events.map((event) => eventFrame(id, event)));
  return changed.session;
};
