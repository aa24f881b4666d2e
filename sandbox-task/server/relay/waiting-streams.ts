/**
 * The streams of a sandbox that wait for a holder of the relay, and the requests of the platform that are told about them.
 *
 * A stream waits while a holder is expected. After a wait in vain, or when the platform says that no holder comes, the next
 * streams wait only for a moment. A request for the relay that was not delivered is added to the next response. Invariants RL4
 * and RL7: docs/spec/relay.md.
 */
import { expectsHolder, type Surroundings } from '#shared/domain/relay/expectation.ts';
import {
  relayHolderMsMax,
  relayInVainMemoryMs,
  relayInVainMs,
  relayWantedMs,
  relayWishMs,
} from '#shared/domain/relay/limits.ts';

export type WaitingStreams = {
  /** Calls the listener while a stream waits for a holder, again and again; gives back the end of that. */
  readonly onWanted: (listener: () => void) => () => void;
  /** Resolves when called, when no holder is expected, or after the longest wait, which is short after a wait in vain. */
  readonly enter: () => Promise<void>;
  /** A holder has come. */
  readonly call: () => void;
  /** The platform says that none comes. */
  readonly dismiss: () => void;
  readonly count: () => number;
};

/** Those who wait are looked at so often, in milliseconds. */
const lookMs = 250;

type Around = Omit<Surroundings, 'hearers' | 'heardUntil' | 'toldAt'>;

export const createWaitingStreams = (around: () => Around): WaitingStreams => {
  const inside = new Set<() => void>();
  const listeners = new Set<() => void>();
  let inVainUntil = 0;
  let [heardUntil, toldAt, missedAt]: (number | undefined)[] = [];

  const isExpected = (): boolean =>
    expectsHolder({ ...around(), hearers: listeners.size, heardUntil, toldAt }, performance.now());
  const tell = (): void => {
    if (listeners.size > 0) toldAt = performance.now();
    for (const listener of listeners) listener();
  };
  const leaveAll = (): void => {
    for (const leave of [...inside]) leave();
  };
  const wait = (): Promise<void> => {
    const now = performance.now();
    const until = now + (now < inVainUntil ? relayInVainMs : relayHolderMsMax);
    return new Promise((resolve) => {
      const telling = setInterval(tell, relayWantedMs).unref();
      const leave = (): void => {
        clearInterval(timer);
        clearInterval(telling);
        inside.delete(leave);
        resolve();
      };
      const timer = setInterval(() => {
        const isOver = performance.now() > until;
        if (isOver) inVainUntil = performance.now() + relayInVainMemoryMs;
        if (isOver || !isExpected()) leave();
      }, lookMs).unref();
      inside.add(leave);
      tell();
    });
  };
  return {
    onWanted: (listener) => {
      listeners.add(listener);
      const isMissed = missedAt !== undefined && performance.now() - missedAt < relayWishMs;
      if (inside.size > 0 || isMissed) tell();
      return () => {
        if (listeners.delete(listener)) heardUntil = performance.now();
      };
    },
    async enter() {
      if (isExpected()) await wait();
      else if (around().isBusy) missedAt = performance.now();
    },
    call: () => {
      inVainUntil = 0;
      missedAt = undefined;
      leaveAll();
    },
    dismiss: () => {
      inVainUntil = performance.now() + relayInVainMemoryMs;
      leaveAll();
    },
    count: () => inside.size,
  };
};
