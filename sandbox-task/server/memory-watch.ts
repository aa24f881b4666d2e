/**
 * The kernel's kills for lack of memory, and the call that each of them is charged to.
 *
 * The kernel counts its kills but does not say which process it killed. That is decided when the count is seen to have risen.
 * If one call runs alone, it is that one. Of several, it is those that end by a SIGKILL, as many as were killed. A later call
 * is charged with none of them.
 */
import type { MemoryCounters } from './memory-counters.ts';

type WatchedCall = {
  /** The kernel killed while it ran alone: what is left of it is to be killed too. */
  readonly isCharged: () => boolean;
  /** At its end, and once: whether it was out of memory. */
  readonly wasOutOfMemory: (isKilled: boolean) => boolean;
  /** The kernel killed while it ran. */
  readonly hasSeenKill: () => boolean;
  /** It has ended, and is watched no longer. */
  readonly end: () => void;
};
export type MemoryWatch = {
  /** Before it is started: it may be killed in its first moment. */
  readonly begin: () => WatchedCall;
};

type Running = { blame: 'none' | 'shared' | 'own' };

export const createMemoryWatch = (counters: Pick<MemoryCounters, 'oomKills'> | undefined): MemoryWatch => {
  const running = new Set<Running>();
  let seen = 0;
  /** Kills that several are suspected of, less those that one was charged with. */
  let unclaimed = 0;
  const look = (): void => {
    const kills = counters?.oomKills() ?? 0;
    const fresh = kills - seen;
    seen = kills;
    if (fresh <= 0) return;
    if (running.size > 1) unclaimed += fresh;
    for (const call of running) {
      if (running.size === 1) call.blame = 'own';
      else if (call.blame === 'none') call.blame = 'shared';
    }
  };
  return {
    begin: () => {
      look();
      const call: Running = { blame: 'none' };
      running.add(call);
      return {
        isCharged: () => {
          look();
          return call.blame === 'own';
        },
        wasOutOfMemory: (isKilled) => {
          look();
          if (call.blame !== 'shared') return call.blame === 'own';
          if (!isKilled || unclaimed === 0) return false;
          unclaimed -= 1;
          return true;
        },
        hasSeenKill: () => {
          look();
          return call.blame !== 'none';
        },
        end: () => {
          look();
          running.delete(call);
          if (![...running].some(({ blame }) => blame === 'shared')) unclaimed = 0;
        },
      };
    },
  };
};
