/** Proof that trees of sessions leave nothing behind, when nothing fails any more: every parent has its answers (CH3), none outlives its root (CH4). */
import { isEnded } from '#shared/domain/session.ts';
import { callsWithChildren } from '#shared/domain/turn/pending-work.ts';
import type { Platform } from './platform.ts';
import { isAtRest, sessionOf, treeItemOf, turnOf } from './stored.ts';

/** Time that ending a tree may take: the sweep goes after an end that died on its way. */
const endMsMax = 3 * 60_000;

export const checkSessionTree = ({ sim, table, checkers }: Platform, id: string): void => {
  const session = sessionOf(table, id);
  if (session === undefined) return;
  for (const { callId, wait } of callsWithChildren(turnOf(table, id))) {
    const child = sessionOf(table, wait.child.session);
    const hasAnswered = checkers.log.answerOf(wait.child.session, wait.child.message) !== undefined;
    const isOver = child === undefined || isEnded(child.status) || hasAnswered;
    if (isOver) sim.violate('CH3: no parent waits for a child that rests or has ended', `${id}: ${callId}`);
  }
  if (session.tree === undefined || isEnded(session.status)) return;
  const parent = sessionOf(table, session.tree.parent);
  const isLeft =
    parent === undefined || (isEnded(parent.status) && parent.lastActiveAt + endMsMax < sim.now());
  if (isLeft) sim.violate('CH4: no session of a tree outlives its root', `${id} of ${session.tree.parent}`);
};

/** A reservation may outlive the function that died with it, until its time is over: then it counts no more (TM3). */
export const checkTree = ({ sim, table, mayLoseCalls }: Platform, root: string): void => {
  const { reserved = {} } = treeItemOf(table, root) ?? {};
  for (const [id, { until }] of Object.entries(reserved)) {
    if (!isAtRest(turnOf(table, id))) continue;
    if (until > sim.now() || !mayLoseCalls)
      sim.violate('TM3: nothing is reserved for a session that rests', `${root}: ${id}`);
  }
};
