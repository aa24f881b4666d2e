/**
 * One stream of the relay as one of its two ends sees it: what it may send, and what it must accept.
 *
 * This module decides; it moves no byte. A frame that the other end had no right to send is a violation: it ends the
 * relay, since the two ends no longer agree. A frame of a stream that is over is late, not wrong.
 * Invariants RL2 and RL3: docs/spec/relay.md.
 */
import { relayWindowBytes } from './limits.ts';

export type Stream = {
  /** `opening`: the other end has not accepted it yet; nothing but its end may pass. */
  readonly phase: 'opening' | 'open' | 'over';
  /** Bytes that this end may still send. */
  readonly credit: number;
  /** Bytes that the other end may still send. */
  readonly window: number;
  /** Bytes that were taken and that the other end was not told of. */
  readonly owed: number;
  readonly isEndSent: boolean;
  readonly isEndReceived: boolean;
};

export type StreamEvent =
  /** The other end accepted it, or this end did. */
  | { readonly type: 'accepted' }
  | { readonly type: 'data-received'; readonly bytes: number }
  | { readonly type: 'end-received' }
  | { readonly type: 'reset' }
  | { readonly type: 'credit-received'; readonly bytes: number }
  | { readonly type: 'data-sent'; readonly bytes: number }
  | { readonly type: 'end-sent' }
  /** The program on this side took bytes. */
  | { readonly type: 'bytes-taken'; readonly bytes: number };

export type StreamStep = {
  readonly stream: Stream;
  /** Bytes of credit to send to the other end now. */
  readonly grant?: number;
  /** The frame had no right to come. */
  readonly violation?: string;
};

export const newStream = (phase: 'opening' | 'open'): Stream => ({
  phase,
  credit: relayWindowBytes,
  window: relayWindowBytes,
  owed: 0,
  isEndSent: false,
  isEndReceived: false,
});

/** Credit is sent in pieces of half a window, so that it costs few frames. */
const grantBytes = relayWindowBytes / 2;

export const reduceStream = (stream: Stream, event: StreamEvent): StreamStep => {
  if (stream.phase === 'over') return { stream };
  switch (event.type) {
    case 'accepted':
      return stream.phase === 'open'
        ? violation(stream, 'it was accepted twice')
        : { stream: { ...stream, phase: 'open' } };
    case 'reset':
      return { stream: { ...stream, phase: 'over' } };
    case 'data-received':
      return received(stream, event.bytes);
    case 'end-received':
      if (stream.isEndReceived) return violation(stream, 'it ended twice');
      return { stream: settled({ ...stream, isEndReceived: true }) };
    case 'credit-received': {
      const credit = stream.credit + event.bytes;
      return credit > relayWindowBytes
        ? violation(stream, 'more credit than its window')
        : { stream: { ...stream, credit } };
    }
    case 'data-sent':
      return event.bytes > sendable(stream)
        ? violation(stream, 'data without credit')
        : { stream: { ...stream, credit: stream.credit - event.bytes } };
    case 'end-sent':
      return { stream: settled({ ...stream, isEndSent: true }) };
    case 'bytes-taken':
      return taken(stream, event.bytes);
  }
};

/** Bytes that may be sent now. */
export const sendable = ({ phase, credit, isEndSent }: Stream): number =>
  phase === 'open' && !isEndSent ? credit : 0;

const received = (stream: Stream, bytes: number): StreamStep => {
  if (stream.phase === 'opening') return violation(stream, 'data before it was accepted');
  if (stream.isEndReceived) return violation(stream, 'data after its end');
  if (bytes > stream.window) return violation(stream, 'more data than its window');
  return { stream: { ...stream, window: stream.window - bytes } };
};

const taken = (stream: Stream, bytes: number): StreamStep => {
  const owed = stream.owed + bytes;
  if (stream.isEndReceived || owed < grantBytes) return { stream: { ...stream, owed } };
  return { stream: { ...stream, owed: 0, window: stream.window + owed }, grant: owed };
};

const settled = (stream: Stream): Stream =>
  stream.isEndSent && stream.isEndReceived ? { ...stream, phase: 'over' } : stream;

const violation = (stream: Stream, text: string): StreamStep => ({ stream, violation: text });
