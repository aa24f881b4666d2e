/**
 * Sends a connection everything that it missed: the events that were logged after a number, then the calls that wait for a
 * person, each once. Events older than the log are gone, and a frame says so. A descendant that cannot be read delays no event
 * of the root.
 */
import { eventFrame, type Frame, unnumberedFrame } from '../../contracts/frames.ts';
import { oldestKept } from '../../domain/event-log.ts';
import type { Session } from '../../domain/session.ts';
import { approvalRequest } from '../../domain/turn/call-queue.ts';
import type { TurnRecord } from '../../domain/turn/turn.ts';
import { waitingCall } from '../../domain/turn/waiting-call.ts';
import type { ConnectionDeps } from '../deps.ts';
import { descendantsOf } from '../session/show-tree.ts';
import type { PostInOrder } from './post-in-order.ts';

const replayPageEvents = 200;

type CatchUp = Pick<Replay, 'post' | 'session'> & { readonly turn: TurnRecord };

/** Each pass sends what was logged since the last, and the calls that wait for a person, each once; undefined when the connection has gone. */
export const openCatchUp = (ports: ConnectionDeps, { post, session, turn }: CatchUp) => {
  const sent = new Set<string>();
  return async (since: number, until: number): Promise<number | undefined> => {
    const last = await replay(ports, { post, session, since, until });
    if (last === undefined) return undefined;
    const below = await ifReadable(ports, session, waitingBelow(ports, session));
    for (const request of [await waitingApproval(ports, session, turn), ...below]) {
      const name = `${request?.sessionId} ${request?.data['callId']}`;
      if (request === undefined || sent.has(name)) continue;
      sent.add(name);
      if (!(await post(JSON.stringify(request)))) return undefined;
    }
    return last;
  };
};

const runningBelow = async ({ sessions }: ConnectionDeps, session: Session): Promise<readonly Session[]> => {
  // The first child may have come, and asked, before the connection was greeted.
  const hasChildren = session.hasChildren ?? (await sessions.get(session.id))?.hasChildren;
  if (hasChildren === undefined) return [];
  return (await descendantsOf(sessions, session)).filter(({ status }) => status === 'running');
};

/** True while a descendant runs a turn; false also where that cannot be read. */
export const runsBelow = async (ports: ConnectionDeps, session: Session): Promise<boolean> =>
  (await ifReadable(ports, session, runningBelow(ports, session))).length > 0;

/** The approvals that wait in the session's descendants: without a number, since it belongs to another log. */
const waitingBelow = async (
  ports: ConnectionDeps,
  session: Session,
): Promise<readonly (Frame | undefined)[]> => {
  const waiting = (await runningBelow(ports, session)).map(async ({ id }) => {
    const child = await ports.turns.getWithTurn(id);
    return child && waitingApproval(ports, child.session, child.turn);
  });
  return (await Promise.all(waiting)).map((request) => request && { ...request, seq: null });
};

/** One that cannot be read must not close each connection to the root: the list of pending approvals has its call. */
const ifReadable = async <T>(
  { telemetry }: ConnectionDeps,
  { id: sessionId }: Session,
  below: Promise<readonly T[]>,
): Promise<readonly T[]> =>
  below.catch((error: unknown) => {
    telemetry.error('the descendants of a session were not read', { sessionId, error });
    return [];
  });

type Replay = {
  readonly post: PostInOrder;
  readonly session: Session;
  readonly since: number;
  /** Epoch milliseconds: later events have come by themselves, whichever function's clock they have. */
  readonly until: number;
};

/** The number of the last event that was sent, or skipped; undefined when the connection has gone, or was closed, before the end. */
const replay = async (
  ports: ConnectionDeps,
  { post, session, since, until }: Replay,
): Promise<number | undefined> => {
  const oldestIndex = oldestKept(session.lastSeq);
  if (since < oldestIndex - 1) {
    const data = { kind: 'events_purged', oldestIndex };
    if (
      !(await post(
        JSON.stringify(unnumberedFrame('system', { sessionId: session.id, at: ports.world.now(), data })),
      ))
    )
      return undefined;
  }
  let last = Math.max(since, oldestIndex - 1);
  for (let hasMore = true; hasMore; ) {
    const page = await ports.eventLog.read(session.id, { since: last, eventsMax: replayPageEvents });
    for (const event of page.events) {
      if (event.at > until) return last;
      if (!(await post(JSON.stringify(eventFrame(session.id, event))))) return undefined;
      last = event.seq;
    }
    hasMore = page.hasMore;
  }
  return last;
};

/** Events that are read at once, the newest first: others may have come since the call was asked. */
const lookedEvents = 100;

/** The request for the waiting call, as the log has it: with its own number, or without one when the log has dropped it. */
const waitingApproval = async (
  { eventLog }: ConnectionDeps,
  { id, lastSeq }: Session,
  { state }: TurnRecord,
): Promise<Frame | undefined> => {
  const waiting = waitingCall(state);
  if (waiting === undefined || state.kind !== 'deciding') return undefined;
  const oldest = oldestKept(lastSeq);
  for (let to = lastSeq; to >= oldest; to -= lookedEvents) {
    const since = Math.max(oldest - 1, to - lookedEvents);
    const { events } = await eventLog.read(id, { since, eventsMax: to - since });
    const request = events.findLast(
      (event) => event.type === 'tool:approval_required' && event.data.callId === waiting.callId,
    );
    if (request !== undefined) return eventFrame(id, request);
  }
  const request = approvalRequest(state.turnId, waiting, state.calls);
  const at = Date.parse(waiting.askedAt);
  return { ...eventFrame(id, { ...request, seq: -1, at }), seq: null };
};
