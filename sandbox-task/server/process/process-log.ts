/**
 * The output of one process: one log of its streams, of which the newest part is kept in a ring.
 *
 * Offsets are bytes since the start. The ring grows as it is used. A bit for each of its bytes tells stderr from the other stream, so
 * that what is kept depends on no change between them.
 */
import { wholeEnd } from '../../wire/code-points.ts';
import type { ProcessStream } from '../../wire/process-messages.ts';

type LogPiece = { readonly stream: ProcessStream; readonly offset: number; readonly bytes: Buffer };

export type ProcessLog = {
  readonly append: (stream: ProcessStream, chunk: Buffer) => void;
  /** No output follows: a character that is not whole stays so. */
  readonly close: () => void;
  readonly isClosed: () => boolean;
  /** The oldest byte that is kept, and the end. */
  readonly bounds: () => { readonly from: number; readonly to: number };
  /** From this offset, of one stream; undefined when there is nothing to show yet. */
  readonly read: (offset: number, bytesMax: number) => LogPiece | undefined;
  /** Called with each output and at the end; the result stops that. */
  readonly onChange: (listener: () => void) => () => void;
  readonly bytesHeld: () => number;
  /** Gives up what is kept. */
  readonly drop: () => void;
};

const ringBytesMin = 4096;
const ringBytesMax = 1_048_576;

type Ring = { readonly bytes: Buffer; readonly marks: StreamMarks };

const createRing = (bytesMax: number): Ring => ({
  bytes: Buffer.allocUnsafeSlow(bytesMax),
  marks: createStreamMarks(bytesMax),
});

export const createProcessLog = (): ProcessLog => {
  let ring = createRing(0);
  let from = 0;
  let to = 0;
  let plain: ProcessStream = 'stdout';
  let isClosed = false;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const size = (): number => ring.bytes.length;
  const isStderr = (offset: number): boolean => ring.marks.has(offset % size());
  /** The next offset of the other stream, or the end. */
  const runEnd = (offset: number, end: number): number => {
    const isOfStderr = isStderr(offset);
    let at = offset + 1;
    while (at < end && isStderr(at) === isOfStderr) at += 1;
    return at;
  };
  const put = (chunk: Buffer, at: number, isOfStderr: boolean): void => {
    const start = at % size();
    const copied = chunk.copy(ring.bytes, start);
    chunk.copy(ring.bytes, 0, copied);
    ring.marks.set(start, start + copied, isOfStderr);
    ring.marks.set(0, chunk.length - copied, isOfStderr);
  };
  const bytesAt = (offset: number, end: number): Buffer => {
    const start = offset % size();
    const first = ring.bytes.subarray(start, Math.min(size(), start + end - offset));
    return Buffer.concat([first, ring.bytes.subarray(0, end - offset - first.length)]);
  };
  const moveTo = (bytesMax: number): void => {
    const next = createRing(bytesMax);
    for (let at = from; at < to; ) {
      const count = Math.min(to - at, size() - (at % size()), bytesMax - (at % bytesMax));
      ring.bytes.copy(next.bytes, at % bytesMax, at % size(), (at % size()) + count);
      at += count;
    }
    for (let at = from; at < to; at += 1)
      if (isStderr(at)) next.marks.set(at % bytesMax, (at % bytesMax) + 1, true);
    ring = next;
  };
  const makeRoom = (bytes: number): void => {
    let wanted = Math.max(size(), ringBytesMin);
    while (wanted < to - from + bytes && wanted < ringBytesMax) wanted *= 2;
    if (wanted > size()) moveTo(wanted);
  };
  return {
    append: (stream, chunk) => {
      if (chunk.length === 0) return;
      makeRoom(chunk.length);
      if (stream !== 'stderr') plain = stream;
      const kept = chunk.subarray(Math.max(0, chunk.length - size()));
      put(kept, to + chunk.length - kept.length, stream === 'stderr');
      to += chunk.length;
      from = Math.max(from, to - size());
      notify();
    },
    close: () => {
      isClosed = true;
      if (to - from < size()) moveTo(Math.max(1, to - from));
      notify();
    },
    isClosed: () => isClosed,
    bounds: () => ({ from, to }),
    read: (offset, bytesMax) => {
      if (offset < from || offset >= to) return undefined;
      const end = runEnd(offset, Math.min(to, offset + bytesMax));
      const bytes = bytesAt(offset, end);
      // The rest of a character may still come, unless another stream goes on.
      const isWhole = end < to ? isStderr(end) !== isStderr(offset) : isClosed;
      const shown = isWhole ? bytes : bytes.subarray(0, wholeEnd(bytes));
      if (shown.length === 0) return undefined;
      return { stream: isStderr(offset) ? 'stderr' : plain, offset, bytes: shown };
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    bytesHeld: () => size() + ring.marks.bytesHeld(),
    drop: () => {
      from = to;
      ring = createRing(0);
    },
  };
};

/** A bit for each byte of a ring: set where the byte is of stderr. */
type StreamMarks = {
  /** All from the first position to before the last one. */
  readonly set: (from: number, to: number, isOfStderr: boolean) => void;
  readonly has: (position: number) => boolean;
  readonly bytesHeld: () => number;
};

const createStreamMarks = (bytesMax: number): StreamMarks => {
  const bits = new Uint8Array(Math.ceil(bytesMax / 8));
  const setOne = (position: number, isOfStderr: boolean): void => {
    const byte = bits[position >> 3] ?? 0;
    const bit = 1 << (position & 7);
    bits[position >> 3] = isOfStderr ? byte | bit : byte & ~bit;
  };
  return {
    set: (from, to, isOfStderr) => {
      let at = from;
      for (; at < to && (at & 7) !== 0; at += 1) setOne(at, isOfStderr);
      if (at < to) bits.fill(isOfStderr ? 255 : 0, at >> 3, to >> 3);
      for (at = Math.max(at, to & ~7); at < to; at += 1) setOne(at, isOfStderr);
    },
    has: (position) => (((bits[position >> 3] ?? 0) >> (position & 7)) & 1) === 1,
    bytesHeld: () => bits.length,
  };
};
