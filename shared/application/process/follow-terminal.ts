/**
 * Follows a process for one connection: sends its output as frames, in order and without a gap, until the process ends, the
 * connection closes or may no longer write to its session (TW2).
 *
 * Before each slice the connection and its access are read again. The offset is recorded with the lease, so that a retry
 * or the next function goes on there; after a crash frames may be repeated, under the same offsets. Of two executions of one
 * invocation the first ends at its next slice.
 */
import { unnumberedFrame } from '../../contracts/frames.ts';
import { type OutputEvent, readOutputEvent } from '../../contracts/output-event.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { followerLeaseMs, followerMarginMs } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import { joinPieces, type OutputPiece, pieceBytesMax } from '../../domain/terminal-output.ts';
import { errorBody, isAppError } from '../../errors.ts';
import type { Posted } from '../../ports/connections.ts';
import { enterSession } from '../access/enter-session.ts';
import type { TerminalDeps } from '../deps.ts';
import { openSlice } from './follow-output.ts';

export type FollowWork = {
  readonly connectionId: ConnectionId;
  readonly processId: string;
  readonly run: string;
  /** Of the function, in epoch milliseconds. */
  readonly deadlineAt: number;
};

const failuresMax = 5;
const failurePauseMs = 1000;

export const followTerminal = async (ports: TerminalDeps, work: FollowWork): Promise<void> => {
  const { terminals, world } = ports;
  const { run } = work;
  const key = { connection: work.connectionId, process: work.processId };
  const execution = world.uuid();
  let offset = await terminals.resume(key, run, execution);
  let failures = 0;
  while (offset !== undefined) {
    const until = world.now() + followerLeaseMs;
    if (!(await terminals.renew(key, { run, execution, offset, until }))) return;
    if (work.deadlineAt - world.now() < followerMarginMs) {
      await ports.followerStarter.followTerminal(key, run);
      return;
    }
    const slice = await followSlice(ports, work, offset);
    if (slice.end === 'over') break;
    failures = isFailure(slice, offset) ? failures + 1 : 0;
    if (failures > failuresMax) break;
    if (slice.end !== 'next') await world.sleep(failurePauseMs * (failures + 1));
    ({ offset } = slice);
  }
  await terminals.release(key, run, execution);
};

type Slice = {
  readonly end: 'next' | 'over' | 'failed' | 'slow';
  /** The first byte that was not sent. */
  readonly offset: number;
};

/** A client that reads slowly is followed on: the gateway closes one that takes nothing for long. */
const isFailure = (slice: Slice, from: number): boolean => slice.end === 'failed' && slice.offset === from;

const followSlice = async (ports: TerminalDeps, work: FollowWork, from: number): Promise<Slice> => {
  let sessionId: SessionId | undefined;
  let offset = from;
  try {
    const session = await admittedSession(ports, work);
    if (session === undefined) return { end: 'over', offset };
    sessionId = session.id;
    const send = openSender(ports, work, session.id);
    for await (const events of readSlice(ports, session, { id: work.processId, offset })) {
      const sent = await send(events);
      if (sent === 'gone') return { end: 'over', offset };
      if (sent === 'slow') return { end: 'slow', offset };
      offset = events.reduce(offsetAfter, offset);
      if (events.some(({ type }) => type === 'exit')) return { end: 'over', offset };
      if (events.some(({ type }) => type === 'next')) return { end: 'next', offset };
    }
    return { end: 'failed', offset };
  } catch (error) {
    if (isAppError(error) && error.code !== 'sandbox_unavailable') {
      const data = { ...errorBody(error, ports.correlation.id()), processId: work.processId };
      await post(ports, work, { type: 'error', sessionId: sessionId ?? null, data });
      return { end: 'over', offset };
    }
    ports.telemetry.warn('a terminal was not followed to the end of a slice', { error });
    return { end: 'failed', offset };
  }
};

/** Undefined when the connection has closed. Throws when it may no longer write. */
const admittedSession = async (
  ports: TerminalDeps,
  { connectionId }: FollowWork,
): Promise<Session | undefined> => {
  const connection = await ports.connections.get(connectionId);
  if (connection?.sessionId === undefined) return undefined;
  const { sessionId: id, principal } = connection;
  return (await enterSession(ports, { id, principal, intent: 'write' })).session;
};

const offsetAfter = (offset: number, event: OutputEvent): number => {
  if (event.type === 'output') return event.offset + event.bytes;
  return event.type === 'gap' ? event.to : offset;
};

/** The events of each piece that the sandbox sent. */
async function* readSlice(
  ports: TerminalDeps,
  session: Session,
  { id, offset }: { readonly id: string; readonly offset: number },
): AsyncGenerator<readonly OutputEvent[]> {
  const wanted = { id, offset, isFollowing: true, isAttached: true, isFirst: false, pieceBytesMax };
  const body = await openSlice(ports, session, wanted);
  let pending = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    pending += text;
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    const events = blocks.map(readOutputEvent).filter((event) => event !== undefined);
    if (events.length > 0) yield events;
  }
}

type Entry = {
  readonly type: 'process:output' | 'process:exit' | 'error';
  readonly sessionId: SessionId | null;
  readonly data: JsonObject;
};

const openSender =
  (ports: TerminalDeps, work: FollowWork, sessionId: SessionId) =>
  async (events: readonly OutputEvent[]): Promise<Posted> => {
    const { processId } = work;
    const pieces: readonly OutputPiece[] = events.filter((event) => event.type === 'output');
    for (const { stream, offset, bytes, text } of joinPieces(pieces)) {
      const data = { processId, stream, offset, bytes, text };
      const entry = { type: 'process:output', sessionId, data } as const;
      const posted = await post(ports, work, entry);
      if (posted !== 'sent') return posted;
    }
    const exit = events.find((event) => event.type === 'exit');
    if (exit === undefined) return 'sent';
    const { type: _, ...end } = exit;
    return post(ports, work, { type: 'process:exit', sessionId, data: { processId, ...end } });
  };

const post = (
  { sockets, world }: TerminalDeps,
  { connectionId }: FollowWork,
  { type, sessionId, data }: Entry,
): Promise<Posted> =>
  sockets.post(connectionId, JSON.stringify(unnumberedFrame(type, { sessionId, at: world.now(), data })));
