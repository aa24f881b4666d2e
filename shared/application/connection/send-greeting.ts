/**
 * Greets a new connection: sends it `system:ready`, the replay it asked for, and the approval that waits, if one does. A replay
 * that begins below the log is preceded by a frame that says so. A connection without a session receives the number of waiting calls.
 *
 * Only this greeter posts to a connection of a session before `system:ready`: publishers pass over a subscriber that was not greeted. It
 * posts that frame, marks the subscriber as greeted, and only then reads the log: it sends what was logged since the
 * `lastSeq` of that frame, also to a connection that asked for no replay. A turn that runs may still publish to subscribers that it read
 * before this one came: then publishers pass it over for a second more, and the log is read before and after. A connection that the
 * greeter cannot greet, or not in time, is closed, so that its client connects again.
 *
 * The gateway refuses posts until `$connect` has returned, so the first one is retried for a while, unless `$disconnect` has come. A
 * client that reads slowly is waited for, for a while.
 */

import { eventFrame, type Frame, unnumberedFrame } from '../../contracts/frames.ts';
import { oldestKept } from '../../domain/event-log.ts';
import { seenMsMax } from '../../domain/features.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { clocksApartMsMax, subscriberRefreshMs } from '../../domain/limits.ts';
import { openerOf } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { approvalRequest } from '../../domain/turn/call-queue.ts';
import type { TurnRecord } from '../../domain/turn/turn.ts';
import { waitingCall } from '../../domain/turn/waiting-call.ts';
import { errorBody, isAppError } from '../../errors.ts';
import type { Connection } from '../../ports/connections.ts';
import type { ConnectionDeps } from '../deps.ts';
import { waitingFrameFor } from '../events/publisher.ts';
import { descendantsOf } from '../session/descendants.ts';
import { offerTools } from '../turn/model/offer-tools.ts';
import { openPostInOrder, type PostInOrder } from './post-in-order.ts';

const firstPostTriesMax = 60;
const firstPostPauseMs = 25;
/** A client that came and left is looked for after so many refusals: a crowd of them would keep as many functions for the whole time. */
const refusalsPerLook = 8;
const replayPageEvents = 200;

export const sendGreeting = async (
  ports: ConnectionDeps,
  { connectionId }: { readonly connectionId: ConnectionId },
): Promise<void> => {
  try {
    const connection = await ports.connections.get(connectionId);
    if (connection === undefined) return;
    const { sessionId } = connection;
    if (sessionId === undefined) await replayToApprover(ports, connection);
    else await greet(ports, { ...connection, sessionId });
  } catch (error) {
    await ports.sockets.close(connectionId).catch(() => undefined);
    throw error;
  }
};

type SessionConnection = Connection & { readonly sessionId: SessionId };

const greet = async (ports: ConnectionDeps, connection: SessionConnection): Promise<void> => {
  const { id: connectionId, sessionId } = connection;
  const knownFrom = ports.world.now() + subscriberRefreshMs;
  const found = await ports.turns.getWithTurn(sessionId);
  if (found === undefined) return;
  const { session } = found;
  try {
    // An execution session calls no model.
    if (session.kind === 'agent') ports.checkProvider(session.provider);
  } catch (error) {
    if (!isAppError(error)) throw error;
    const refusal = frame(ports, session, { type: 'error', data: errorBody(error, ports.correlation.id()) });
    await postFirst(ports, connection, JSON.stringify(refusal));
    await ports.sockets.close(connectionId);
    return;
  }
  if (!(await postFirst(ports, connection, JSON.stringify(await readyFrame(ports, session))))) {
    await closeUngreeted(ports, connection);
    return;
  }
  if (await isStillIn(ports, connection)) await join(ports, connection, { ...found, knownFrom });
};

type Joined = {
  readonly session: Session;
  readonly turn: TurnRecord;
  /** From this moment on each publisher knows the connection. */
  readonly knownFrom: number;
};

/**
 * Sends what the log has, and lets others post. Where a turn may be publishing to subscribers that it read before this one came, others
 * wait until it must have read them again: what it publishes until then is in the log, which is read once more.
 */
const join = async (
  ports: ConnectionDeps,
  connection: SessionConnection,
  { session, turn, knownFrom }: Joined,
): Promise<void> => {
  const { id, sessionId, since } = connection;
  const isBusy =
    session.status === 'running' ||
    (await ifReadable(ports, session, runningBelow(ports, session))).length > 0;
  const joining = isBusy ? { joinBy: knownFrom + clocksApartMsMax } : undefined;
  if (!(await ports.connections.greeted(sessionId, id, joining))) return;
  const pass = openPasses(ports, { post: openPostInOrder(ports, id), session, turn });
  // A client may keep a number from before a backup was restored, which is beyond the log.
  let last: number | undefined = Math.min(since ?? session.lastSeq, session.lastSeq);
  if (isBusy) {
    last = await pass(last, Number.POSITIVE_INFINITY);
    if (last === undefined) return;
    await ports.world.sleep(Math.max(0, knownFrom - ports.world.now()));
    if (!(await ports.connections.greeted(sessionId, id))) return;
  }
  await pass(last, since === undefined ? ports.world.now() + clocksApartMsMax : Number.POSITIVE_INFINITY);
};

type Passing = Pick<Replay, 'post' | 'session'> & Pick<Joined, 'turn'>;

/** Each pass sends what was logged since the last, and the calls that wait for a person, each once; undefined when the connection has gone. */
const openPasses = (ports: ConnectionDeps, { post, session, turn }: Passing) => {
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

/** Another invocation may have greeted it; and one of a release before this says nothing of it. */
const closeUngreeted = async (
  { connections, sockets }: ConnectionDeps,
  { id, sessionId }: SessionConnection,
): Promise<void> => {
  const subscriber = await connections.subscriber(sessionId, id);
  if (subscriber?.greetBy !== undefined) await sockets.close(id);
};

/**
 * A sign-out and a revocation close the sockets that they find, and none can be closed before its `$connect` has returned: one that was
 * accepted in between is closed here.
 */
const isStillIn = async (
  { tokens, sockets }: ConnectionDeps,
  { id, principal }: Pick<Connection, 'id' | 'principal'>,
): Promise<boolean> => {
  const opener = openerOf(principal);
  if (opener === undefined || (await tokens.get(opener)) !== undefined) return true;
  await sockets.close(id);
  return false;
};

/** More than the difference of two functions' clocks, in milliseconds. */
const clocksMs = 1000;

/**
 * Sends the number at once. A function that has just seen that there are no such sockets sends no change: so the
 * first sockets receive the number once more, when those functions have read again.
 */
const replayToApprover = async (
  ports: ConnectionDeps,
  { id, principal, connectedAt }: Connection,
): Promise<void> => {
  if (!(await postFirst(ports, { id }, await waitingFrameFor(ports, principal)))) return;
  if (!(await isStillIn(ports, { id, principal }))) return;
  const knownAt = (await ports.connections.approversSince()) + seenMsMax + clocksMs;
  if (connectedAt >= knownAt) return;
  await ports.world.sleep(Math.max(0, knownAt - ports.world.now()));
  await openPostInOrder(ports, id)(await waitingFrameFor(ports, principal));
};

const runningBelow = async ({ sessions }: ConnectionDeps, session: Session): Promise<readonly Session[]> => {
  // The first child may have come, and asked, before the connection was greeted.
  const hasChildren = session.hasChildren ?? (await sessions.get(session.id))?.hasChildren;
  if (hasChildren === undefined) return [];
  return (await descendantsOf(sessions, session)).filter(({ status }) => status === 'running');
};

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

const frame = (
  { world }: ConnectionDeps,
  { id: sessionId }: Session,
  { type, data }: { type: 'system:ready' | 'system' | 'error'; data: Frame['data'] },
): Frame => unnumberedFrame(type, { sessionId, at: world.now(), data });

const demoNote = 'The demo provider is no language model: it runs the commands that a message contains.';

const readyFrame = async (ports: ConnectionDeps, session: Session): Promise<Frame> => {
  const { provider, model, id: sessionId, status, lastSeq } = session;
  const offer = await offerTools(ports, session, await ports.callers.list(session.id));
  const tools = offer.tools.map(({ name }) => name);
  const mcpServers = offer.servers.map(({ name, status: health }) => ({ name, status: health }));
  const note = provider === 'demo' ? { note: demoNote } : {};
  const data = { provider, model, sessionId, status, lastSeq, tools, mcpServers, ...note };
  return frame(ports, session, { type: 'system:ready', data });
};

/** False when the client never came, or has left, or others may have posted to it, since it is late. */
const postFirst = async (
  { connections, sockets, world }: ConnectionDeps,
  { id, greetBy = Number.POSITIVE_INFINITY }: Pick<Connection, 'id' | 'greetBy'>,
  first: string,
): Promise<boolean> => {
  for (let refusals = 0; refusals < firstPostTriesMax; ) {
    if (world.now() >= greetBy - clocksApartMsMax) return false;
    if ((await sockets.post(id, first)) === 'sent') return true;
    await world.sleep(firstPostPauseMs * (1 + refusals / 4));
    refusals += 1;
    if (refusals % refusalsPerLook === 0 && (await connections.get(id)) === undefined) return false;
  }
  return false;
};

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
    if (!(await post(JSON.stringify(frame(ports, session, { type: 'system', data }))))) return undefined;
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
