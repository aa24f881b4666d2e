/**
 * The two streams of a program as its result has them: the first and the last part of each, as the server keeps them,
 * however much it printed.
 */
import type { OutputEvent } from './process-output.ts';

const partCharactersMax = 256 * 1024;

type Stream = 'stdout' | 'stderr';

export type CollectedOutput = {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated?: true;
  readonly stderrTruncated?: true;
};

export type OutputCollector = {
  readonly add: (event: OutputEvent) => void;
  readonly result: () => CollectedOutput;
};

export const makeOutputCollector = (): OutputCollector => {
  const streams = { stdout: makeTextCollector(), stderr: makeTextCollector() };
  return {
    add: (event) => {
      // A gap may be of either stream.
      if (event.type === 'gap') streams.stdout.leaveOut(event.to - event.from);
      if (event.type === 'output') streams[streamOf(event.stream)].add(event.text);
    },
    result: () => ({
      stdout: streams.stdout.text(),
      stderr: streams.stderr.text(),
      ...(streams.stdout.isTruncated() ? { stdoutTruncated: true as const } : {}),
      ...(streams.stderr.isTruncated() ? { stderrTruncated: true as const } : {}),
    }),
  };
};

const streamOf = (stream: Stream | 'pty'): Stream => (stream === 'stderr' ? 'stderr' : 'stdout');

const makeTextCollector = () => {
  let head = '';
  let tail = '';
  let leftOut = 0;
  const cutTail = (charactersMax: number): void => {
    if (tail.length <= charactersMax) return;
    leftOut += tail.length - partCharactersMax;
    tail = tail.slice(-partCharactersMax);
  };
  return {
    add: (text: string): void => {
      const room = leftOut > 0 ? 0 : Math.max(0, partCharactersMax - head.length);
      head += text.slice(0, room);
      tail += text.slice(room);
      cutTail(2 * partCharactersMax);
    },
    leaveOut: (count: number): void => {
      leftOut += count;
    },
    isTruncated: (): boolean => leftOut > 0 || tail.length > partCharactersMax,
    text: (): string => {
      cutTail(partCharactersMax);
      return leftOut === 0 ? head + tail : `${head}\n[... ${leftOut} bytes left out ...]\n${tail}`;
    },
  };
};
