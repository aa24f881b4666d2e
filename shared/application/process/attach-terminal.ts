/**
 * Attaches a connection to a process: from then on a follower sends its output.
 *
 * One follower at a time holds the lease of a connection and a process (TW1, TW3), and a connection has a limited number of
 * them (TW8). A function remembers how long the lease lasts, so that a typed key costs no write.
 */
import { followerLeaseMs, terminalsPerConnectionMax } from '../../domain/limits.ts';
import { AppError } from '../../errors.ts';
import type { TerminalKey } from '../../ports/terminals.ts';
import type { Deps } from '../deps.ts';

export type Attachment = {
  /** The first byte wanted; absent: the oldest that is kept. */
  readonly offset: number | undefined;
  /** Output is wanted again after a follower has ended. */
  readonly isAnew: boolean;
};

export type AttachTerminal = (key: TerminalKey, attachment: Attachment) => Promise<void>;

/** Terminals that one function remembers; the one it saw first is evicted first. */
const rememberedMax = 10_000;

export const openAttacher = ({
  terminals,
  followerStarter,
  world,
}: Deps<'terminals' | 'followerStarter' | 'world'>): AttachTerminal => {
  const followedUntil = new Map<string, number>();
  const remember = (name: string, until: number): void => {
    followedUntil.delete(name);
    followedUntil.set(name, until);
    const [first] = followedUntil.keys();
    if (followedUntil.size > rememberedMax && first !== undefined) followedUntil.delete(first);
  };
  return async (key, { offset, isAnew }) => {
    const name = `${key.connection} ${key.process}`;
    const now = world.now();
    if (!isAnew && (followedUntil.get(name) ?? 0) > now) return;
    const run = world.uuid();
    const follower = { run, offset: offset ?? 0, until: now + followerLeaseMs };
    const { isClaimed, until } = await terminals.claim(key, follower, now);
    if (isClaimed)
      try {
        // After the claim, so that of claims at once none is missed.
        if ((await terminals.count(key.connection, now)) > terminalsPerConnectionMax) throw tooMany();
        await followerStarter.followTerminal(key, run);
      } catch (error) {
        await terminals.release(key, run);
        throw error;
      }
    remember(name, until);
  };
};

const tooMany = (): AppError =>
  new AppError(
    'resource_limit_exceeded',
    `this connection already receives the output of ${terminalsPerConnectionMax} processes`,
    {
      suggestions: [
        'End one of these processes, or open another connection.',
        'GET /api/sessions/{id}/processes/{processId}/output reads output without a terminal.',
      ],
    },
  );
