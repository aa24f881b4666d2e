/**
 * The expectation that the platform takes the other end of the relay soon: a program of a sandbox waits only then, and is refused at once
 * otherwise. Times are of one clock that never goes back, in milliseconds. Invariant RL4: docs/spec/relay.md.
 */
import { relayHearerGapMs, relayHolderMsMax, relayPairingMsMax } from './limits.ts';

export type Surroundings = {
  /** A call, a turn of a program, or a client is served. */
  readonly isBusy: boolean;
  readonly hasNetwork: boolean;
  /** Requests of the platform through which it hears that the relay is wanted. */
  readonly hearers: number;
  /** When the last of them ended. */
  readonly heardUntil?: number | undefined;
  /** When one of them was told last that the relay is wanted. */
  readonly toldAt?: number | undefined;
  /** When the last use began: of a sandbox with a network it has the relay held, whether or not it goes on. */
  readonly usedAt?: number | undefined;
  /** When the last holder went: a use that began before it called none. */
  readonly heldUntil?: number | undefined;
  /** When the last holder handed over. */
  readonly handedOverAt?: number | undefined;
};

export const expectsHolder = (surroundings: Surroundings, now: number): boolean => {
  const { isBusy, hasNetwork, hearers, heardUntil, toldAt, usedAt, heldUntil, handedOverAt } = surroundings;
  const isWithin = (ms: number, at: number | undefined): boolean => at !== undefined && now - at < ms;
  if (isWithin(relayPairingMsMax, handedOverAt)) return true;
  const isCalledByUse = hasNetwork && (usedAt ?? 0) > (heldUntil ?? 0) && isWithin(relayHolderMsMax, usedAt);
  if (isCalledByUse) return true;
  if (!isBusy) return false;
  return hearers > 0 || isWithin(relayHearerGapMs, heardUntil) || isWithin(relayHolderMsMax, toldAt);
};
