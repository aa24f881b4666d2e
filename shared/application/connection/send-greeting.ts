/**
 * Greets a new connection: sends it `system:ready`, the replay it asked for, and the approvals that wait (catch-up.ts). A connection without
 * a session receives the number of waiting calls.
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

import { type Frame, unnumberedFrame } from '../../contracts/frames.ts';
import { seenMsMax } from '../../domain/features.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { clocksApartMsMax, subscriberRefreshMs } from '../../domain/limits.ts';
import { openerOf } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import type { TurnRecord } from '../../domain/turn/turn.ts';
import { errorBody, isAppError } from '../../errors.ts';
import type { Connection } from '../../ports/connections.ts';
import type { ConnectionDeps } from '../deps.ts';
import { waitingFrameFor } from '../events/publisher.ts';
import { offerTools } from '../turn/model/offer-tools.ts';
import { openCatchUp, runsBelow } from './catch-up.ts';
import { openPostInOrder } from './post-in-order.ts';

const firstPostTriesMax = 60;
const firstPostPauseMs = 25;
/** A client that came and left is looked for after so many refusals: a crowd of them would keep as many functions for the whole time. */
const refusalsPerLook = 8;

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
  const isBusy = session.status === 'running' || (await runsBelow(ports, session));
  const joining = isBusy ? { joinBy: knownFrom + clocksApartMsMax } : undefined;
  if (!(await ports.connections.greeted(sessionId, id, joining))) return;
  const pass = openCatchUp(ports, { post: openPostInOrder(ports, id), session, turn });
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

const frame = (
  { world }: ConnectionDeps,
  { id: sessionId }: Session,
  { type, data }: { type: 'system:ready' | 'error'; data: Frame['data'] },
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
