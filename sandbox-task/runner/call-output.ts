/**
 * The output of a call as the server receives it: batches while it runs, and its first and last 256 KB at the end.
 *
 * The bounds are on the user's side of the pipe: a program that prints gigabytes costs the sandbox and not the server.
 * Live output is whole for the first 256 KB; after that each batch has only its newest bytes, and the offset shows the gap.
 */
import { codePointStart, wholeEnd } from '../wire/code-points.ts';
import { type RunnerMessage, type StreamName, type StreamSummary, streamNames } from '../wire/messages.ts';
import type { ResultShape } from '../wire/program-messages.ts';
import type { OutputFiles } from './output-files.ts';

export type Send = (message: RunnerMessage, payload?: Buffer) => void;

type Exit = Extract<RunnerMessage, { type: 'exit' }>;
type CallEnd = Pick<Exit, 'exitCode' | 'signal' | 'killedFor' | 'isEnded' | 'durationMs' | 'cpuMs'> &
  Partial<Pick<Exit, 'startFailure' | 'stateLost' | 'errorLine' | 'resultsLeftOut'>> & {
    readonly results?: readonly (ResultShape & { readonly content: Buffer })[];
  };

export type CallReport = {
  readonly push: Readonly<Record<StreamName, (chunk: Buffer) => void>>;
  readonly close: (end: CallEnd) => void;
};

const progressBatchMs = 50;

export const openReport = (id: number, send: Send, files?: OutputFiles): CallReport => {
  const windows = { stdout: createOutputWindow(), stderr: createOutputWindow() };
  const stored = { stdout: files?.open('stdout'), stderr: files?.open('stderr') };
  const push = (stream: StreamName) => (chunk: Buffer) => {
    windows[stream].push(chunk);
    stored[stream]?.push(chunk);
  };
  const show = (isEnd: boolean): void => {
    for (const stream of streamNames) {
      const shown = windows[stream].show(isEnd);
      if (shown) send({ type: 'output', id, stream, offset: shown.offset }, shown.bytes);
    }
  };
  const batches = setInterval(() => show(false), progressBatchMs);
  return {
    push: { stdout: push('stdout'), stderr: push('stderr') },
    close: ({ results = [], ...end }) => {
      clearInterval(batches);
      show(true);
      const stdout = windows.stdout.close();
      const stderr = windows.stderr.close();
      send(
        {
          ...{ type: 'exit', id, startFailure: null, stateLost: false, errorLine: null, resultsLeftOut: 0 },
          ...end,
          stdout: { ...stdout.summary, ...stored.stdout?.close() },
          stderr: { ...stderr.summary, ...stored.stderr?.close() },
          results: results.map(({ isValue, parts }) => ({ isValue, parts })),
        },
        Buffer.concat([...stdout.parts, ...stderr.parts, ...results.map(({ content }) => content)]),
      );
    },
  };
};

const headBytesMax = 256 * 1024;
const tailBytesMax = 256 * 1024;
/** The newest bytes of a batch that are shown once the head is full. */
const shownBytesMax = 16 * 1024;

type OutputWindow = {
  readonly push: (chunk: Buffer) => void;
  /** The bytes since the previous batch, cut on code points; at the end also an unfinished code point. */
  readonly show: (isEnd?: boolean) => { readonly offset: number; readonly bytes: Buffer } | undefined;
  readonly close: () => { readonly summary: StreamSummary; readonly parts: readonly Buffer[] };
};

const createOutputWindow = (): OutputWindow => {
  const head: Buffer[] = [];
  let headBytes = 0;
  const tail = createTail(tailBytesMax);
  let bytes = 0;
  let pending = Buffer.alloc(0);
  return {
    push(chunk) {
      bytes += chunk.length;
      const toHead = chunk.subarray(0, headBytesMax - headBytes);
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headBytes += toHead.length;
      tail.push(chunk.subarray(toHead.length));
      pending = keepLast(pending, chunk, bytes <= headBytesMax ? headBytesMax : shownBytesMax);
    },
    show(isEnd = false) {
      const start = bytes - pending.length;
      const from = start === 0 ? 0 : codePointStart(pending);
      const to = isEnd ? pending.length : wholeEnd(pending);
      if (to <= from) return undefined;
      const shown = { offset: start + from, bytes: pending.subarray(from, to) };
      pending = pending.subarray(to);
      return shown;
    },
    close() {
      const last = tail.bytes();
      return { summary: { bytes, headBytes, tailBytes: last.length }, parts: [...head, last] };
    },
  };
};

/** The last bytes of a stream, in a buffer of twice their size that is moved up only when it is full. */
const createTail = (bytesMax: number) => {
  let buffer = Buffer.alloc(0);
  let used = 0;
  return {
    push(chunk: Buffer): void {
      const fresh = chunk.subarray(Math.max(0, chunk.length - bytesMax));
      if (fresh.length === 0) return;
      if (buffer.length === 0) buffer = Buffer.allocUnsafe(2 * bytesMax);
      if (used + fresh.length > buffer.length) {
        const last = Math.min(used, bytesMax);
        buffer.copyWithin(0, used - last, used);
        used = last;
      }
      used += fresh.copy(buffer, used);
    },
    bytes: (): Buffer => buffer.subarray(Math.max(0, used - bytesMax), used),
  };
};

const keepLast = (pending: Buffer<ArrayBuffer>, chunk: Buffer, bytesMax: number): Buffer<ArrayBuffer> => {
  if (chunk.length === 0) return pending;
  if (chunk.length >= bytesMax) return Buffer.from(chunk.subarray(chunk.length - bytesMax));
  return Buffer.concat([pending.subarray(Math.max(0, pending.length + chunk.length - bytesMax)), chunk]);
};
