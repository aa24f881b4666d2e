/**
 * Publishes frames to the subscribers of a session, which are the sockets connected to it, and the number of waiting calls to
 * those who decide. Subscribers of the root of a tree get what a person must decide in it (forward-to-root.ts).
 *
 * Frames reach each subscriber in order, subscribers in parallel. A subscriber that left is removed; one that cannot keep up
 * misses frames and fetches the gap from the log. New subscribers are noticed within a bounded time, so that a stream of
 * deltas costs no reads of its own.
 *
 * One that was not greeted yet is passed over: its first frame is `system:ready`. While one is known, all but pieces of a stream are
 * published to subscribers that were read after the commit. So an event that passes it over was logged before it was greeted, and is
 * replayed to it; one that joins gets what no log has. One that came since the last read is not known, and misses events for that
 * bounded time: its greeter waits for it where others may publish, and then reads the log (send-greeting.ts). No log has the text of an
 * answer that is on its way: the publisher of a turn sends it what came before (streamed-text.ts).
 */

import { eventFrame, type Frame, unnumberedFrame } from '../../contracts/frames.ts';
import { decidableBy } from '../../domain/access.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { ConnectionId, ProjectId, SessionId } from '../../domain/ids.ts';
import { carriedFrameBytesMax, connectMsMax, subscriberRefreshMs } from '../../domain/limits.ts';
import { isSignedIn } from '../../domain/person.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { awaitsGreeting, isPassedOver, type Subscriber } from '../../domain/subscriber.ts';
import { utf8Bytes } from '../../domain/text.ts';
import type { WaitingFilter } from '../../ports/approval-store.ts';
import type { Approver, Connection } from '../../ports/connections.ts';
import type { Deps, PublishDeps } from '../deps.ts';
import type { StreamedText } from './streamed-text.ts';

export type Publisher = {
  readonly publish: (frames: readonly Frame[]) => Promise<void>;
  /** Sends the number of waiting calls to those who decide in the project. */
  readonly waitingChanged: (project: ProjectId) => Promise<void>;
  /** As they were last read, without those that a post has shown to be gone. */
  readonly subscribers: () => readonly Subscriber[];
  /** The caller has read the subscribers. A list older than the one at hand is left. One that is new gets the text that was streamed. */
  readonly setSubscribers: (subscribers: readonly Subscriber[], readAt: number) => void;
};

type PublisherOptions = {
  readonly subscribers?: readonly Subscriber[];
  /** The moment before they were read, in epoch milliseconds. Absent: they were not. */
  readonly readAt?: number;
  /** Absent: nothing is streamed, or not kept. */
  readonly streamed?: StreamedText;
};

/** The event that follows the last piece has the whole. */
const streamedTypes: ReadonlySet<Frame['type']> = new Set(['delta', 'reasoning_delta', 'tool:progress']);

/** Known subscribers save the first read. */
export const openPublisher = (
  ports: PublishDeps,
  { id: sessionId, tree }: Pick<Session, 'id' | 'tree'>,
  { streamed, ...known }: PublisherOptions = {},
): Publisher => {
  const { telemetry } = ports;
  const root = tree && openPublisher(ports, { id: tree.root });
  let { subscribers = [], readAt = Number.NEGATIVE_INFINITY } = known;
  let last: Promise<void> = Promise.resolve();

  const publishNow = async (frames: readonly Frame[]): Promise<void> => {
    const now = ports.world.now();
    const isExact =
      subscribers.some((one) => isPassedOver(one, now)) &&
      !frames.every(({ type }) => streamedTypes.has(type));
    const isOld = frames.length > 0 && now - readAt > subscriberRefreshMs;
    if (isExact || isOld) {
      subscribers = await ports.connections.subscribers(sessionId);
      readAt = now;
    }
    const taking = subscribers.filter((one) => !isPassedOver(one, now));
    const missed = streamed?.missedBy(taking, now);
    const texts = textsFor(frames, now);
    streamed?.take(frames);
    const posted = subscribers;
    const stays = await Promise.all(
      posted.map((one) => postTo(ports, one.id, [...(missed?.(one.id) ?? []), ...texts(one)])),
    );
    const left = new Set(posted.filter((_, index) => !stays[index]).map(({ id }) => id));
    subscribers = subscribers.filter(({ id }) => !left.has(id));
    await root?.publish(frames.map(forwardedToRoot).filter((frame) => frame !== undefined));
  };

  const next = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch((error: unknown) => telemetry.warn('subscribers missed frames', { error }));
    return last;
  };

  return {
    subscribers: () => subscribers,
    setSubscribers: (read, at) => {
      if (at < readAt) return;
      subscribers = read;
      readAt = at;
      if (streamed?.isNewTo(read)) void next(() => publishNow([]));
    },
    publish: (frames) => (frames.length === 0 ? last : next(() => publishNow(frames))),
    waitingChanged: (project) => next(() => publishWaiting(ports, project)),
  };
};

/** One that was not greeted gets none, and one that joins what no log has: its greeter sends it the rest. */
const textsFor = (frames: readonly Frame[], now: number): ((subscriber: Subscriber) => readonly string[]) => {
  const texts = frames.map((frame) => JSON.stringify(frame));
  const unlogged = frames.filter(isUnlogged).map((frame) => JSON.stringify(frame));
  return (subscriber) => {
    if (!isPassedOver(subscriber, now)) return texts;
    return awaitsGreeting(subscriber, now) ? [] : unlogged;
  };
};

const isUnlogged = ({ seq, type }: Frame): boolean => seq === null && !streamedTypes.has(type);

/** Keeps frames for the function that is about to be invoked; more than an invocation carries are published at once. */
export const keepFrames = (
  publisher: Publisher,
): { readonly publisher: Publisher; readonly taken: () => Promise<readonly Frame[]> } => {
  const kept: Frame[] = [];
  return {
    publisher: { ...publisher, publish: async (frames) => void kept.push(...frames) },
    taken: async () => {
      if (utf8Bytes(JSON.stringify(kept)) <= carriedFrameBytesMax) return kept;
      await publisher.publish(kept);
      return [];
    },
  };
};

/**
 * False when the subscriber has left, and was removed. One that reads slowly, or fails otherwise, stays, and gets no more of these: the
 * log has the frames that it missed.
 */
const postTo = async (
  ports: PublishDeps,
  subscriber: ConnectionId,
  texts: readonly string[],
): Promise<boolean> => {
  try {
    for (const text of texts) {
      const posted = await ports.sockets.post(subscriber, text);
      if (posted === 'slow') break;
      if (posted === 'gone') {
        ports.telemetry.count('SocketsGone');
        return (await removeGone(ports, subscriber)) === undefined;
      }
    }
  } catch (error) {
    ports.telemetry.warn('a subscriber missed frames', { subscriber, error });
  }
  return true;
};

/** Appends entries to a session's log outside a turn, numbered like all others. A session that does not exist gets none. */
export const appendAndPublish = async (
  ports: PublishDeps,
  id: SessionId,
  entries: readonly LogEntry[],
): Promise<void> => {
  if (entries.length === 0) return;
  const events = (await ports.eventLog.append(id, entries, ports.world.now())) ?? [];
  await openPublisher(ports, { id }).publish(events.map((event) => eventFrame(id, event)));
};

/** A new connection stays: its `$connect` may not have returned, and the gateway does not know it before (`send-greeting.ts`). */
const removeGone = (
  { connections, world }: Deps<'connections' | 'world'>,
  id: ConnectionId,
): Promise<Connection | undefined> => connections.remove(id, { openedBefore: world.now() - connectMsMax });

type WaitingDeps = Deps<'connections' | 'approvals' | 'sockets' | 'world'>;

/** Sends each approver the number of calls that they may decide: one count for all principals that see the same. */
const publishWaiting = async (ports: WaitingDeps, project: ProjectId): Promise<void> => {
  const groups = new Map<string, { readonly filter: WaitingFilter; readonly approvers: Approver[] }>();
  for (const approver of await ports.connections.approvers()) {
    if (approver.principal.isPerson && !isSignedIn(approver.principal, ports.world.now())) continue;
    const filter = decidableBy(approver.principal);
    if (filter === undefined || (filter.project !== undefined && filter.project !== project)) continue;
    const key = `${filter.project ?? ''} ${filter.owner ?? ''}`;
    const group = groups.get(key) ?? { filter, approvers: [] };
    group.approvers.push(approver);
    groups.set(key, group);
  }
  await Promise.all(
    [...groups.values()].map(async ({ filter, approvers }) => {
      const frame = waitingFrame(ports, await ports.approvals.count(filter));
      await Promise.all(approvers.map(({ id }) => postWaiting(ports, id, frame)));
    }),
  );
};

/** The number as it is now, for a socket that has just connected. */
export const waitingFrameFor = async (ports: WaitingDeps, principal: Principal): Promise<string> => {
  const filter = decidableBy(principal);
  return waitingFrame(ports, filter === undefined ? 0 : await ports.approvals.count(filter));
};

const waitingFrame = ({ world }: WaitingDeps, waiting: number): string =>
  JSON.stringify(unnumberedFrame('approvals', { sessionId: null, at: world.now(), data: { waiting } }));

const postWaiting = async (ports: WaitingDeps, id: Approver['id'], frame: string): Promise<void> => {
  if ((await ports.sockets.post(id, frame)) === 'gone') await removeGone(ports, id);
};

/**
 * The root's subscribers get two frames of a child: a call that a person must decide, and when that is settled. Nothing else: a client
 * that waits for an answer of its own session never takes another's for it. Without a number: that log is another's.
 */
export const forwardedToRoot = (frame: Frame): Frame | undefined => {
  if (frame.type === 'tool:approval_required') return { ...frame, seq: null };
  const { callId } = frame.data;
  const isDecided = frame.type === 'tool:decided' && typeof callId === 'string' && isByHand(frame.data);
  if (!isDecided && frame.type !== 'completion') return undefined;
  return {
    ...frame,
    type: 'system',
    seq: null,
    data: { kind: 'child_settled', ...(isDecided ? { callId } : {}) },
  };
};

/** A call that a mode or a grant allowed never waited. */
const isByHand = ({ by }: Frame['data']): boolean => {
  const kind = typeof by === 'object' && by !== null && 'kind' in by ? by['kind'] : undefined;
  return kind === 'token' || kind === 'person';
};
