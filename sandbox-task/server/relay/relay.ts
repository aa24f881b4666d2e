/**
 * The sandbox's end of the relay: the platform holds the other end, and bytes pass only while it does.
 *
 * One holder at a time, by its id; a second one is refused while the first is heard from. Both directions are counted, so that a
 * request that broke off is repeated without loss or doubling. A stream waits for a holder only while one is expected,
 * which is while a call runs; otherwise it is refused at once. While one waits, the relay is wanted, which the answers to open
 * requests say. Invariants RL1, RL2, RL4, RL5 and RL7: docs/spec/relay.md.
 */
import type { RelayReset, RelayTarget } from '#shared/contracts/relay/frame.ts';
import {
  createRelayPeer,
  type RelayPeer,
  type RelayStream,
  type StreamSink,
} from '#shared/contracts/relay/peer.ts';
import {
  relayHolderMsMax,
  relayInVainMemoryMs,
  relayInVainMs,
  relayOutboxBytesMax,
  relayPairingMsMax,
  relaySilenceMsMax,
  relayStreamsMax,
  relayWantedMs,
} from '#shared/domain/relay/limits.ts';
import { Refusal } from '../refusal.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { createTrialHosts, type TrialHosts } from './trial-hosts.ts';

export type Holding = {
  readonly id: string;
  readonly outbox: Outbox;
  readonly peer: RelayPeer;
  /** Bytes of the platform that were taken. */
  received: number;
  /** The answer that carries bytes out now; a later one takes its place. */
  upstream: object | undefined;
  readonly idleMs: number;
  isOver: boolean;
};

export type SandboxRelay = Pick<TrialHosts, 'setTrial' | 'wantedHosts'> & {
  /** True when the session has a network. */
  readonly setNetwork: (hasNetwork: boolean) => void;
  /** False while another holder is heard from that this one does not replace. */
  readonly hold: (claim: HoldClaim) => boolean;
  /** Throws `conflict` for one that holds it no longer. */
  readonly holding: (id: string) => Holding;
  /** Every byte that passes counts against idleness. */
  readonly noteBytes: () => void;
  /** The holder was heard from: it is waited for again from now on. */
  readonly noteHolder: (holding: Holding) => void;
  /** True when its time without bytes, streams and calls is over. */
  readonly isIdle: (holding: Holding) => boolean;
  readonly end: (holding: Holding, reason: RelayReset) => void;
  /** Its holder hands over: another one is expected. */
  readonly release: (holding: Holding) => void;
  /** Calls the listener while a stream waits for a holder, again and again; gives back the end of that. */
  readonly onWanted: (listener: () => void) => () => void;
  /** Throws a `RelayRefusal`. The sink learns whether the platform accepts it. */
  readonly open: (target: RelayTarget, sink: StreamSink) => Promise<RelayStream>;
};

export type HoldClaim = {
  readonly id: string;
  /** The holder that hands over to it. */
  readonly replaces?: string | undefined;
  readonly idleMs: number;
};

/** Why a stream is not opened, with the status for an HTTP client. */
export class RelayRefusal extends Error {
  override readonly name = 'RelayRefusal';
  readonly status: number;

  constructor({ status, message }: RelayReset) {
    super(message);
    this.status = status;
  }
}

const noNetwork = { status: 403, message: 'this sandbox has no network: no host is allowed' };
const nobodyHolds = {
  status: 503,
  message:
    'nothing holds the other end of the relay: it works while a call, a turn or an attached client runs',
};
const tooMany = { status: 503, message: `${relayStreamsMax} connections through the relay are open already` };
const overfull = { status: 503, message: 'the relay carries too much already: try again' };
const lost = { status: 502, message: 'the relay was lost while the connection was open' };
const handedOver = {
  status: 502,
  message: 'the relay was handed over while the connection was open: try again',
};

type WaitingRoom = {
  readonly onWanted: SandboxRelay['onWanted'];
  /** Resolves when called, when nothing is expected any more, or after the longest wait, which is short after one in vain. */
  readonly enter: () => Promise<void>;
  readonly call: () => void;
  readonly count: () => number;
};

/** Those who wait are looked at so often, in milliseconds. */
const lookMs = 250;

const createWaitingRoom = (isExpected: () => boolean): WaitingRoom => {
  const inside = new Set<() => void>();
  let inVainUntil = 0;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    onWanted: (listener) => {
      listeners.add(listener);
      if (inside.size > 0) listener();
      return () => void listeners.delete(listener);
    },
    enter: () => {
      if (!isExpected()) return Promise.resolve();
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
    },
    call: () => {
      inVainUntil = 0;
      for (const leave of [...inside]) leave();
    },
    count: () => inside.size,
  };
};

export const createRelay = ({ isBusy }: { readonly isBusy: () => boolean }): SandboxRelay => {
  let hasNetwork = false;
  const trial = createTrialHosts();
  let current: Holding | undefined;
  let silence: NodeJS.Timeout | undefined;
  let lastByteAt = performance.now();
  let expectedUntil = 0;

  const end = (holding: Holding, reason: RelayReset): void => {
    if (holding.isOver) return;
    holding.isOver = true;
    holding.upstream = undefined;
    if (current === holding) current = undefined;
    holding.peer.close(reason);
  };
  const noteHolder = (holding: Holding): void => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      if (holding.upstream === undefined) end(holding, lost);
      else noteHolder(holding);
    }, relaySilenceMsMax).unref();
  };
  const waiting = createWaitingRoom(() => isBusy() || performance.now() < expectedUntil);
  const refuseBarred = (target: RelayTarget): void => {
    const barred = trial.refusal(target) ?? (target.type === 'egress' && !hasNetwork ? noNetwork : undefined);
    if (barred !== undefined) throw new RelayRefusal(barred);
  };
  return {
    setTrial: trial.setTrial,
    wantedHosts: trial.wantedHosts,
    setNetwork(next) {
      hasNetwork = next;
      if (current === undefined) return;
      // The holder reads the lists again before its next answer.
      current.upstream = undefined;
      current.outbox.wake();
      if (!next) end(current, noNetwork);
    },
    hold({ id, replaces, idleMs }) {
      if (current !== undefined && current.id !== id && current.id !== replaces) return false;
      if (current?.id === id) return true;
      if (current !== undefined) end(current, handedOver);
      expectedUntil = 0;
      const outbox = createOutbox();
      const peer = createRelayPeer({ send: outbox.push });
      current = { id, outbox, peer, received: 0, upstream: undefined, idleMs, isOver: false };
      lastByteAt = performance.now();
      noteHolder(current);
      waiting.call();
      return true;
    },
    holding(id) {
      if (current?.id !== id) throw new Refusal('conflict', 'another holder has taken the relay');
      noteHolder(current);
      return current;
    },
    noteBytes: () => {
      lastByteAt = performance.now();
    },
    noteHolder,
    isIdle: ({ peer, idleMs }) =>
      !isBusy() && peer.openStreams() === 0 && performance.now() - lastByteAt > idleMs,
    end,
    onWanted: waiting.onWanted,
    release(holding) {
      end(holding, handedOver);
      expectedUntil = performance.now() + relayPairingMsMax;
    },
    async open(target, sink) {
      refuseBarred(target);
      if (waiting.count() >= relayStreamsMax) throw new RelayRefusal(tooMany);
      if (current === undefined) await waiting.enter();
      const holding = current;
      refuseBarred(target);
      if (holding === undefined) throw new RelayRefusal(nobodyHolds);
      if (holding.peer.openStreams() >= relayStreamsMax) throw new RelayRefusal(tooMany);
      if (holding.outbox.waitingBytes() > relayOutboxBytesMax) throw new RelayRefusal(overfull);
      lastByteAt = performance.now();
      return holding.peer.open(target, sink);
    },
  };
};
