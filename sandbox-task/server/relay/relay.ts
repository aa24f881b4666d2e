/**
 * The sandbox's end of the relay: the platform holds the other end, and bytes pass only while it does.
 *
 * One holder at a time, by its id; a second one is refused while the first is heard from. Both directions are counted, so that a
 * request that broke off is repeated without loss or doubling. A stream waits for a holder only while one is expected;
 * otherwise it is refused at once. While one waits, the relay is wanted, which the answers to open requests say. Invariants RL1, RL2, RL4, RL5 and RL7: docs/spec/relay.md.
 */
import type { RelayReset, RelayTarget } from '#shared/contracts/relay/frame.ts';
import {
  createRelayPeer,
  type RelayPeer,
  type RelayStream,
  type StreamSink,
} from '#shared/contracts/relay/peer.ts';
import { relayOutboxBytesMax, relaySilenceMsMax, relayStreamsMax } from '#shared/domain/relay/limits.ts';
import { Refusal } from '../refusal.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { createTrialHosts, type TrialHosts } from './trial-hosts.ts';
import { createWaitingStreams, type WaitingStreams } from './waiting-streams.ts';

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

export type SandboxRelay = Pick<TrialHosts, 'setTrial' | 'wantedHosts'> &
  Pick<WaitingStreams, 'onWanted'> & {
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
    /** The platform says that no holder comes: those who wait are told. */
    readonly dismiss: () => void;
    /** Throws a `RelayRefusal`, also when its program has already left. The sink learns whether the platform accepts it. */
    readonly open: (target: RelayTarget, sink: StreamSink, left: AbortSignal) => Promise<RelayStream>;
  };

type HoldClaim = {
  readonly id: string;
  /** The holder that hands over to it. */
  readonly replaces?: string | undefined;
  readonly idleMs: number;
};

/** Why a stream is not opened, with the status for an HTTP client. */
export class RelayRefusal extends Error {
  override readonly name = 'RelayRefusal';
  readonly status: number;
  readonly reason: RelayReset;

  constructor(reason: RelayReset) {
    super(reason.message);
    this.status = reason.status;
    this.reason = reason;
  }
}

const noNetwork = { status: 403, message: 'this sandbox has no network: no host is allowed' };
const nobodyHolds = {
  status: 503,
  message:
    'nothing holds the other end of the relay: it works while a call, a turn or an attached client runs; run this program in a call, or follow its output',
};
export const programLeft = { status: 502, message: 'the program closed the connection' };
const nobodyComes = {
  status: 503,
  message:
    'nothing holds the other end of the relay, and the platform has not taken it in time: try again in a minute',
};
const tooMany = { status: 503, message: `${relayStreamsMax} connections through the relay are open already` };
const overfull = { status: 503, message: 'the relay carries too much already: try again' };
const lost = { status: 502, message: 'the relay was lost while the connection was open' };
const handedOver = {
  status: 502,
  message: 'the relay was handed over while the connection was open: try again',
};

/** The relay ended under the stream: the next holder may carry what it was for. */
export const isEndOfRelay = (cause: unknown): boolean =>
  cause instanceof RelayRefusal && (cause.reason === lost || cause.reason === handedOver);

const newHolding = (id: string, idleMs: number): Holding => {
  const outbox = createOutbox();
  const peer = createRelayPeer({ send: outbox.push });
  return { id, outbox, peer, received: 0, upstream: undefined, idleMs, isOver: false };
};

const requireRoom = ({ peer, outbox }: Holding): void => {
  if (peer.openStreams() >= relayStreamsMax) throw new RelayRefusal(tooMany);
  if (outbox.waitingBytes() > relayOutboxBytesMax) throw new RelayRefusal(overfull);
};

type Allowed = { readonly trial: TrialHosts; readonly hasNetwork: boolean };

const requireAllowed = (target: RelayTarget, { trial, hasNetwork }: Allowed): void => {
  const barred = trial.refusal(target) ?? (target.type === 'egress' && !hasNetwork ? noNetwork : undefined);
  if (barred !== undefined) throw new RelayRefusal(barred);
};

type Use = {
  readonly isBusy: () => boolean;
  /** When the platform used the sandbox last, by `performance.now()`. */
  readonly usedAt: () => number | undefined;
};

export const createRelay = ({ isBusy, usedAt }: Use): SandboxRelay => {
  let hasNetwork = false;
  const trial = createTrialHosts();
  let current: Holding | undefined;
  let silence: NodeJS.Timeout | undefined;
  let lastByteAt = performance.now();
  let [handedOverAt, heldUntil]: (number | undefined)[] = [];

  const end = (holding: Holding, reason: RelayReset): void => {
    if (holding.isOver) return;
    holding.isOver = true;
    holding.upstream = undefined;
    if (current === holding) current = undefined;
    heldUntil = performance.now();
    holding.peer.close(reason);
  };
  const noteHolder = (holding: Holding): void => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      if (holding.upstream === undefined) end(holding, lost);
      else noteHolder(holding);
    }, relaySilenceMsMax).unref();
  };
  const waiting = createWaitingStreams(() => ({
    isBusy: isBusy(),
    hasNetwork,
    usedAt: usedAt(),
    heldUntil,
    handedOverAt,
  }));
  const refuseBarred = (target: RelayTarget): void => requireAllowed(target, { trial, hasNetwork });
  return {
    setTrial: trial.setTrial,
    wantedHosts: trial.wantedHosts,
    setNetwork(next) {
      hasNetwork = next;
      if (current === undefined) return;
      // The holder reads the lists again before its next answer, and ends what they no longer allow. Calls of models and of the
      // platform need no network.
      current.upstream = undefined;
      current.outbox.wake();
    },
    hold({ id, replaces, idleMs }) {
      if (current !== undefined && current.id !== id && current.id !== replaces) return false;
      if (current?.id === id) return true;
      if (current !== undefined) end(current, handedOver);
      handedOverAt = undefined;
      current = newHolding(id, idleMs);
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
    dismiss: waiting.dismiss,
    release(holding) {
      end(holding, handedOver);
      handedOverAt = performance.now();
    },
    async open(target, sink, left) {
      refuseBarred(target);
      if (waiting.count() >= relayStreamsMax) throw new RelayRefusal(tooMany);
      if (current === undefined) await waiting.enter();
      const holding = current;
      refuseBarred(target);
      if (left.aborted) throw new RelayRefusal(programLeft);
      if (holding === undefined) throw new RelayRefusal(isBusy() ? nobodyComes : nobodyHolds);
      requireRoom(holding);
      lastByteAt = performance.now();
      return holding.peer.open(target, sink);
    },
  };
};
