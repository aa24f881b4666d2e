/**
 * One end of the relay: its streams over one sequence of bytes in each direction, in memory alone.
 *
 * The sandbox's end opens streams, the platform's end accepts or resets them. A write waits for credit, so that a slow
 * reader slows its writer and no other stream. `receive` throws when the other end breaks the rules: then nothing of it
 * counts any more, and its owner closes this end.
 */
import { relayPieceBytesMax, relayStreamsMax } from '#shared/domain/relay/limits.ts';
import {
  newStream,
  reduceStream,
  type Stream,
  type StreamEvent,
  sendable,
} from '#shared/domain/relay/stream.ts';
import {
  createFrameDecoder,
  decodeCredit,
  decodeJson,
  encodeCredit,
  encodeFrame,
  encodeJson,
  type RelayFrame,
  type RelayReset,
  type RelayTarget,
  relayReset,
  relayTarget,
} from './frame.ts';

/** The events of a stream for the program at one side. After `onEnd` no data come, after `onReset` nothing does. */
export type StreamSink = {
  readonly onAccepted?: () => void;
  /** The bytes count as taken when `take` is called for them. */
  readonly onData: (bytes: Uint8Array) => void;
  readonly onEnd: () => void;
  readonly onReset: (reason: RelayReset) => void;
};

export type RelayStream = {
  /** Resolves when the bytes are on their way; false when the stream is over. One write at a time. */
  readonly write: (bytes: Uint8Array) => Promise<boolean>;
  /** Bytes that came were taken: the other end may send as many again. */
  readonly take: (bytes: number) => void;
  readonly accept: () => void;
  readonly end: () => void;
  readonly reset: (reason: RelayReset) => void;
};

export type RelayPeer = {
  readonly receive: (bytes: Uint8Array) => void;
  readonly open: (target: RelayTarget, sink: StreamSink) => RelayStream;
  /** Resets all streams, on this side alone. */
  readonly close: (reason: RelayReset) => void;
  /** Resets all streams on both sides. */
  readonly resetAll: (reason: RelayReset) => void;
  readonly openStreams: () => number;
};

type PeerParts = {
  readonly send: (frame: Uint8Array) => void;
  /** Of a stream that the other end opened; absent: it may open none. */
  readonly onOpen?: (target: RelayTarget, stream: RelayStream) => StreamSink;
};

type Entry = { state: Stream; sink: StreamSink | undefined; wake: () => void };
type Entries = Map<number, Entry>;
type Send = (frame: Uint8Array) => void;

const newEntry = (sink?: StreamSink): Entry => ({
  state: newStream('opening'),
  sink,
  wake: () => undefined,
});

export const createRelayPeer = ({ send, onOpen }: PeerParts): RelayPeer => {
  const entries: Entries = new Map();
  const apply = makeApply(entries, send);
  const decode = createFrameDecoder();
  let lastOpened = 0;
  let lastReceived = 0;

  const receiveOpen = (frame: RelayFrame): void => {
    if (onOpen === undefined) throw new Error('this end opens all streams');
    if (frame.stream <= lastReceived) throw new Error(`stream ${frame.stream} was opened before`);
    if (entries.size >= relayStreamsMax) throw new Error(`more than ${relayStreamsMax} streams`);
    lastReceived = frame.stream;
    const entry = newEntry();
    entries.set(frame.stream, entry);
    entry.sink = onOpen(decodeJson(relayTarget(), frame), streamOf(frame.stream, { entry, apply, send }));
  };
  const receiveFrame = (frame: RelayFrame): void => {
    const entry = entries.get(frame.stream);
    // It was reset on this side while the frame was on its way.
    if (entry === undefined) return;
    const reason = frame.kind === 'reset' ? decodeJson(relayReset(), frame) : undefined;
    apply(frame.stream, entry, eventOf(frame, onOpen !== undefined));
    deliver(entry, frame, reason);
  };
  const close = (reason: RelayReset): void => {
    for (const [id, entry] of [...entries]) {
      apply(id, entry, { type: 'reset' });
      entry.sink?.onReset(reason);
    }
  };
  return {
    receive: (bytes) => {
      for (const frame of decode(bytes))
        if (frame.kind === 'open') receiveOpen(frame);
        else receiveFrame(frame);
    },
    open: (target, sink) => {
      lastOpened += 1;
      const entry = newEntry(sink);
      entries.set(lastOpened, entry);
      send(encodeJson('open', lastOpened, target));
      return streamOf(lastOpened, { entry, apply, send });
    },
    close,
    resetAll: (reason) => {
      for (const id of entries.keys()) send(encodeJson('reset', id, reason));
      close(reason);
    },
    openStreams: () => entries.size,
  };
};

type Apply = (id: number, entry: Entry, event: StreamEvent) => void;

/** Throws for an event that the rules forbid, whichever side it is of. */
const makeApply =
  (entries: Entries, send: Send): Apply =>
  (id, entry, event) => {
    const { stream, grant, violation } = reduceStream(entry.state, event);
    if (violation !== undefined) throw new Error(`stream ${id}: ${violation}`);
    entry.state = stream;
    if (grant !== undefined) send(encodeCredit(id, grant));
    if (stream.phase === 'over') entries.delete(id);
    entry.wake();
  };

type StreamParts = { readonly entry: Entry; readonly apply: Apply; readonly send: Send };

const streamOf = (id: number, { entry, apply, send }: StreamParts): RelayStream => ({
  write: async (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (isClosed(entry)) return false;
      const room = Math.min(sendable(entry.state), relayPieceBytesMax, bytes.length - at);
      if (room === 0) {
        await nextChange(entry);
        continue;
      }
      send(encodeFrame('data', id, bytes.subarray(at, at + room)));
      apply(id, entry, { type: 'data-sent', bytes: room });
      at += room;
    }
    return !isClosed(entry);
  },
  take: (bytes) => apply(id, entry, { type: 'bytes-taken', bytes }),
  accept: () => {
    if (entry.state.phase !== 'opening') return;
    send(encodeFrame('accepted', id));
    apply(id, entry, { type: 'accepted' });
  },
  end: () => {
    if (isClosed(entry)) return;
    send(encodeFrame('end', id));
    apply(id, entry, { type: 'end-sent' });
  },
  reset: (reason) => {
    if (entry.state.phase === 'over') return;
    send(encodeJson('reset', id, reason));
    apply(id, entry, { type: 'reset' });
  },
});

/** For sending. */
const isClosed = ({ state }: Entry): boolean => state.phase === 'over' || state.isEndSent;

const nextChange = (entry: Entry): Promise<void> =>
  new Promise((resolve) => {
    entry.wake = resolve;
  });

const eventOf = (frame: RelayFrame, isAccepting: boolean): StreamEvent => {
  switch (frame.kind) {
    case 'accepted':
      if (isAccepting) throw new Error('only this end accepts streams');
      return { type: 'accepted' };
    case 'data':
      return { type: 'data-received', bytes: frame.payload.length };
    case 'end':
      return { type: 'end-received' };
    case 'credit':
      return { type: 'credit-received', bytes: decodeCredit(frame) };
    case 'reset':
    case 'open':
      return { type: 'reset' };
  }
};

const deliver = ({ sink }: Entry, frame: RelayFrame, reason: RelayReset | undefined): void => {
  if (frame.kind === 'accepted') sink?.onAccepted?.();
  if (frame.kind === 'data') sink?.onData(frame.payload);
  if (frame.kind === 'end') sink?.onEnd();
  if (reason !== undefined) sink?.onReset(reason);
};
