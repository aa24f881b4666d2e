/**
 * Refuses the frames of a connection that sends too many. They are counted in a bucket that all functions share,
 * except those that need no counting (domain/frame-rate.ts, docs/adr/0018-a-few-frames-are-not-counted.md).
 */
import {
  afterTake,
  type FrameCount,
  frameBucketMs,
  frameIntervalMs,
  frameStep,
} from '../../domain/frame-rate.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { frameRefusalMs } from '../../domain/limits.ts';
import type { FrameBucket, RateLimiter } from '../../ports/access.ts';
import type { World } from '../../ports/world.ts';

/** AC8. `quiet`: refused without an answer, since the connection got one a moment ago. */
export type FrameVerdict = 'allowed' | 'refused' | 'quiet';

export type FrameMeter = {
  /**
   * `at`: the time at which the gateway received it, so that a frame that waited for its function does not count
   * as a later one.
   */
  readonly take: (id: ConnectionId, at: number) => Promise<FrameVerdict>;
  readonly forget: (id: ConnectionId) => void;
};

/** Connections that one function remembers; the one it saw first is evicted first. */
const connectionsMax = 10_000;

export type FrameMeterPorts = {
  readonly frames: FrameBucket;
  /** Limits the refusals that a connection receives, over all functions. */
  readonly refusals: RateLimiter;
  readonly world: Pick<World, 'now'>;
};

export const openFrameMeter = ({ frames, refusals, world }: FrameMeterPorts): FrameMeter => {
  const counts = new Map<ConnectionId, FrameCount>();
  const latest = new Map<ConnectionId, Promise<void>>();
  const toldAt = new Map<ConnectionId, number>();

  const isAllowed = async (id: ConnectionId, at: number): Promise<boolean> => {
    const known = counts.get(id);
    const step = frameStep(known, at);
    if (step.step !== 'take') {
      remember(counts, id, step.count);
      return step.step === 'pass';
    }
    const options = { takenMs: step.frames * frameIntervalMs, bucketMs: frameBucketMs, now: at };
    const taken = await frames.take(id, options);
    remember(counts, id, afterTake(known, taken, at));
    return taken.isTaken;
  };

  /** One frame of a connection after the other: the table's answer for the first is known for the next. */
  const inTurn = (id: ConnectionId, at: number): Promise<boolean> => {
    const before = latest.get(id) ?? Promise.resolve();
    const allowed = before.then(() => isAllowed(id, at));
    const settled = allowed.then(
      () => undefined,
      () => undefined,
    );
    latest.set(id, settled);
    void settled.then(() => {
      if (latest.get(id) === settled) latest.delete(id);
    });
    return allowed;
  };

  const isTold = async (id: ConnectionId): Promise<boolean> => {
    const now = world.now();
    if (now - (toldAt.get(id) ?? Number.NEGATIVE_INFINITY) < frameRefusalMs) return false;
    remember(toldAt, id, now);
    return refusals.take(`refusal#${id}`, now);
  };

  return {
    take: async (id, at) => {
      if (await inTurn(id, at)) return 'allowed';
      return (await isTold(id)) ? 'refused' : 'quiet';
    },
    forget: (id) => {
      counts.delete(id);
      toldAt.delete(id);
    },
  };
};

const remember = <Value>(known: Map<ConnectionId, Value>, id: ConnectionId, value: Value): void => {
  known.set(id, value);
  const [first] = known.keys();
  if (known.size > connectionsMax && first !== undefined) known.delete(first);
};
