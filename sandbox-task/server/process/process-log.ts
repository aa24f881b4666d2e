/**
 * The output of one process: one log of its streams, of which the newest part is kept in a ring.
 *
 * Offsets are bytes since the start. The ring grows as it is used. Changes between the streams are counted as well as bytes,
 * since each takes memory of its own.
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
const runsMax = 8192;

type Run = { readonly at: number; readonly stream: ProcessStream };

export const createProcessLog = (): ProcessLog => {
  let ring = Buffer.alloc(0);
  let from = 0;
  let to = 0;
  let runs: Run[] = [];
  let isClosed = false;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const moveTo = (bytesMax: number): void => {
    const next = Buffer.allocUnsafeSlow(bytesMax);
    for (let at = from; at < to; ) {
      const count = Math.min(to - at, ring.length - (at % ring.length), bytesMax - (at % bytesMax));
      ring.copy(next, at % bytesMax, at % ring.length, (at % ring.length) + count);
      at += count;
    }
    ring = next;
  };
  const makeRoom = (bytes: number): void => {
    let wanted = Math.max(ring.length, ringBytesMin);
    while (wanted < to - from + bytes && wanted < ringBytesMax) wanted *= 2;
    if (wanted > ring.length) moveTo(wanted);
  };
  const trim = (): void => {
    from = Math.max(from, to - ring.length);
    if (runs.length > runsMax) from = Math.max(from, runs[runs.length - runsMax]?.at ?? from);
    const kept = runs.findIndex((_, index) => (runs[index + 1]?.at ?? Number.POSITIVE_INFINITY) > from);
    if (kept > 0) runs = runs.slice(kept);
  };
  const runAt = (offset: number): { readonly stream: ProcessStream; readonly end: number } | undefined => {
    const index = lastAtOrBefore(runs, offset);
    const run = runs[index];
    return run && { stream: run.stream, end: Math.min(to, runs[index + 1]?.at ?? to) };
  };
  const bytesAt = (offset: number, end: number): Buffer => {
    const start = offset % ring.length;
    const first = ring.subarray(start, Math.min(ring.length, start + end - offset));
    return Buffer.concat([first, ring.subarray(0, end - offset - first.length)]);
  };
  return {
    append: (stream, chunk) => {
      if (chunk.length === 0) return;
      makeRoom(chunk.length);
      if (runs.at(-1)?.stream !== stream) runs.push({ at: to, stream });
      const kept = chunk.subarray(Math.max(0, chunk.length - ring.length));
      const start = (to + chunk.length - kept.length) % ring.length;
      const copied = kept.copy(ring, start);
      kept.copy(ring, 0, copied);
      to += chunk.length;
      trim();
      notify();
    },
    close: () => {
      isClosed = true;
      if (to - from < ring.length) moveTo(Math.max(1, to - from));
      notify();
    },
    isClosed: () => isClosed,
    bounds: () => ({ from, to }),
    read: (offset, bytesMax) => {
      const run = offset < from || offset >= to ? undefined : runAt(offset);
      if (run === undefined) return undefined;
      const bytes = bytesAt(offset, Math.min(run.end, offset + bytesMax));
      const isLast = offset + bytes.length === run.end;
      // The rest of a character may still come, unless another stream goes on.
      const isWhole = isLast && (isClosed || run.end < to);
      const shown = isWhole ? bytes : bytes.subarray(0, wholeEnd(bytes));
      return shown.length === 0 ? undefined : { stream: run.stream, offset, bytes: shown };
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    bytesHeld: () => ring.length,
    drop: () => {
      from = to;
      runs = [];
      ring = Buffer.alloc(0);
    },
  };
};

const lastAtOrBefore = (runs: readonly Run[], offset: number): number => {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((runs[middle]?.at ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
};
