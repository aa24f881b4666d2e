/**
 * Ends a session: its running turn and every waiting message are completed as cancelled, then it is marked
 * ended and its slot given back, then its sandbox is asked to stop unless another session of the workspace
 * still uses it. A crash in between leaves the rest to the janitor, which looks again soon.
 */

import { eventFrame } from '../../../contracts/frames.ts';
import { redriveAfterMs } from '../../../domain/limits.ts';
import { endedStatus, isEnded, type Session, type SessionStatus, totalsOf } from '../../../domain/session.ts';
import { isAsRead } from '../../../domain/session-sweep.ts';
import type { SessionStore } from '../../../ports/session-store.ts';
import type { Deps, TurnDeps } from '../../deps.ts';
import { openPublisher } from '../../events/publisher.ts';
import { requestStop } from '../../sandbox/stop-sandbox.ts';
import { notifyParent } from '../commit/notify-parent.ts';
import {
  askHolderToCancel,
  type Cancelable,
  type Cancelled,
  cancelNext,
  childrenOf,
  killDetached,
  readCancelable,
} from './cancel-turn.ts';

type Ending = {
  readonly reason: string;
  /** Of an execution session; absent: `stopped`. */
  readonly status?: Extract<SessionStatus, 'error' | 'stopped'>;
  /** Leaves it alone when it showed a sign of life since it was read. */
  readonly unlessMoved?: boolean;
};

type Ended = NonNullable<Awaited<ReturnType<SessionStore['end']>>>;

/**
 * Messages that wait, and races with the turn's holder and with messages that come concurrently: more than this in one
 * session is beyond its inbox.
 */
const stepsMax = 1000;

/** False when it had ended before, or moved. */
export const endSession = async (ports: TurnDeps, session: Session, ending: Ending): Promise<boolean> => {
  const ended =
    session.kind === 'execution'
      ? await endOnce(ports, session, ending)
      : await complete(ports, session, ending);
  if (ended === undefined) return false;
  const { id } = session;
  // Its spending is final now, unless it is resumed. A metric costs money too: none of a cost of nothing.
  const { costUsd } = totalsOf(ended.session);
  if (costUsd > 0) ports.telemetry.count('SessionCostUsd', costUsd);
  await openPublisher(ports, session).publish(ended.events.map((event) => eventFrame(id, event)));
  await leaveBehind(ports, ended.session, ending);
  await notifyParent(ports, session);
  return true;
};

/** Ends all sessions under an ended one, and stops its sandbox unless another session uses it. */
export const leaveBehind = async (ports: TurnDeps, session: Session, ending: Ending): Promise<void> => {
  await endChildren(ports, session, ending);
  await letGo(ports, session, ending);
};

/**
 * Ends all sessions under one that has ended and so takes no more children (CH4), nearest first: no parent that goes on hears
 * of the end of a child.
 */
export const endChildren = async (
  ports: TurnDeps,
  session: Session,
  { reason }: Pick<Ending, 'reason'>,
): Promise<void> => {
  if (session.hasChildren === undefined) return;
  const generations = await childrenOf(ports, session);
  if (generations.flat().length === 0 || (await isReopened(ports, session))) return;
  for (const living of generations)
    await Promise.all(living.map((child) => endSession(ports, child, { reason })));
};

/** Resumed since it was read: the children that were listed before may be of its new life. A child is not resumed. */
const isReopened = async ({ sessions }: TurnDeps, { id, tree }: Session): Promise<boolean> => {
  const now = tree === undefined ? await sessions.get(id) : undefined;
  return now !== undefined && !isEnded(now.status);
};

const endOnce = (
  { sessions, world }: TurnDeps,
  session: Session,
  {
    status = endedStatus(session.kind),
    unlessMoved = false,
  }: Pick<Ending, 'unlessMoved'> & { readonly status?: SessionStatus },
): Promise<Ended | undefined> => {
  const at = world.now();
  const log = [{ type: 'system' as const, data: { kind: 'session_status', status } }];
  return sessions.end(session, { status, at, dueAt: at + redriveAfterMs, unlessMoved, log });
};

/** Undefined when another caller ended it, or when it moved and shall be left alone then. */
const complete = async (
  ports: TurnDeps,
  session: Session,
  { unlessMoved = false }: Ending,
): Promise<Ended | undefined> => {
  // The text that its model was saying stays. A session that shall be left alone once it moves works on nothing.
  const first = unlessMoved ? undefined : await readCancelable(ports, session.id);
  if (first !== undefined) await askHolderToCancel(ports, first);
  let expected = session;
  for (let step = 0; step < stepsMax; step += 1) {
    const found = await readCancelable(ports, session.id);
    if (found === undefined || (unlessMoved && !isAsRead(found.session, expected))) return undefined;
    const next = await cancelOrEnd(ports, found);
    if (next.status === 'ended') return next.ended;
    if (next.status !== 'moved') expected = next.session;
    else if (unlessMoved) return undefined;
  }
  throw new Error(`session ${session.id}: it moved ${stepsMax} times while it was ended`);
};

/** One message less, or the end when none is left: one that came since it was read moves the session. */
const cancelOrEnd = async (
  ports: TurnDeps,
  found: Cancelable,
): Promise<Exclude<Cancelled, { status: 'nothing' }> | { status: 'ended'; ended: Ended }> => {
  const cancelled = await cancelNext(ports, found);
  if (cancelled.status === 'done' || cancelled.status === 'more') await killDetached(ports, cancelled);
  if (cancelled.status !== 'nothing') return cancelled;
  const ended = await endOnce(ports, found.session, { unlessMoved: true });
  return ended === undefined ? { status: 'moved' } : { status: 'ended', ended };
};

/**
 * The ended session no longer uses its workspace; the last user's leaving stops the sandbox. Others that stay may be idle, and looked
 * at for the last time: the sandbox is looked at soon. That of a parent is when the parent is, which hears of the end.
 */
export const letGo = async (
  ports: Deps<'workspaces' | 'invoker' | 'world'>,
  { id, workspace: workspaceId, tree }: Session,
  { reason }: Ending,
): Promise<void> => {
  const workspace = await ports.workspaces.leave(workspaceId, id);
  if (workspace === undefined || workspace.sandbox?.state === 'stopping') return;
  if (workspace.users.length > 0) {
    if (workspace.sandbox?.state === 'ready' && tree === undefined)
      await ports.workspaces.postpone(workspace, ports.world.now());
    return;
  }
  // A session may enter concurrently.
  await requestStop(ports, workspace, { reason, only: 'unused' });
};
