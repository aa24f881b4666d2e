/** The result of a process that its caller waits for: the first and the last 256 KB of each stream, and its end. */
import type { KillCause } from '../../wire/messages.ts';
import type { ProcessStream } from '../../wire/process-messages.ts';

const headBytesMax = 256 * 1024;
const tailBytesMax = 256 * 1024;

export type ProcessEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly killedFor: KillCause | null;
  readonly durationMs: number;
  readonly startFailure: string | null;
};

export type Capture = {
  readonly push: (stream: ProcessStream, chunk: Buffer) => void;
  readonly bytesHeld: () => number;
  readonly resultOf: (end: ProcessEnd) => object;
};

export const createCapture = (): Capture => {
  const streams = { stdout: createWindow(), stderr: createWindow() };
  return {
    push: (stream, chunk) => streams[stream === 'stderr' ? 'stderr' : 'stdout'].push(chunk),
    bytesHeld: () => streams.stdout.bytesHeld() + streams.stderr.bytesHeld(),
    resultOf: ({ exitCode, signal, durationMs, killedFor, startFailure }) => ({
      exitCode,
      signal,
      stdout: streams.stdout.text(),
      stderr: streams.stderr.text(),
      stdoutBytes: streams.stdout.bytes(),
      stderrBytes: streams.stderr.bytes(),
      stdoutTruncated: streams.stdout.isCut(),
      stderrTruncated: streams.stderr.isCut(),
      durationMs,
      ...(killedFor === null ? {} : { killedFor }),
      ...(startFailure === null ? {} : { startFailure }),
    }),
  };
};

const createWindow = () => {
  const head = createBuffer();
  let tail = createBuffer();
  let bytes = 0;
  const leftOut = (): number => bytes - head.bytes().length - lastOf(tail).length;
  return {
    push: (chunk: Buffer): void => {
      bytes += chunk.length;
      const toHead = chunk.subarray(0, headBytesMax - head.bytes().length);
      head.push(toHead);
      const rest = chunk.subarray(toHead.length);
      tail.push(rest.subarray(Math.max(0, rest.length - tailBytesMax)));
      if (tail.bytes().length > 2 * tailBytesMax) tail = createBuffer(lastOf(tail));
    },
    bytes: (): number => bytes,
    bytesHeld: (): number => head.bytesHeld() + tail.bytesHeld(),
    isCut: (): boolean => leftOut() > 0,
    text: (): string => {
      const last = lastOf(tail);
      if (leftOut() === 0) return Buffer.concat([head.bytes(), last]).toString();
      // A character that the gap divides becomes the replacement character, which is dropped.
      const before = head
        .bytes()
        .toString()
        .replace(/\uFFFD+$/, '');
      const after = last.toString().replace(/^\uFFFD+/, '');
      return `${before}\n[... ${leftOut()} bytes left out ...]\n${after}`;
    },
  };
};

const lastOf = (tail: GrowingBuffer): Buffer => tail.bytes().subarray(-tailBytesMax);

type GrowingBuffer = ReturnType<typeof createBuffer>;

/** Grows by doubling, so that many small pieces are not copied for each of them. */
const createBuffer = (first: Buffer = Buffer.alloc(0)) => {
  let buffer: Buffer = Buffer.from(first);
  let used = buffer.length;
  return {
    push: (chunk: Buffer): void => {
      if (used + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (used + chunk.length));
        buffer.copy(larger, 0, 0, used);
        buffer = larger;
      }
      used += chunk.copy(buffer, used);
    },
    bytes: (): Buffer => buffer.subarray(0, used),
    bytesHeld: (): number => buffer.length,
  };
};
