/** The three streams of a user process: pipes that can be opened by name where they can be made, and else what Node gives a child. */
import type { ChildProcess, StdioNull, StdioPipe } from 'node:child_process';
import { closeReader, prepareInputPipe, takeInputPipe } from './input-pipe.ts';
import { closeWriters, prepareOutputPipes, takeOutputPipes } from './output-pipes.ts';

export type StandardStreams = {
  readonly stdio: readonly [input: Stdio, output: Stdio, error: Stdio];
  /** Gives the started process its other ends. */
  readonly giveTo: (child: ChildProcess) => ChildProcess;
  /** The child has its own ends by now, or was not started. */
  readonly release: () => void;
  /** It was not started: nobody reads or writes the other ends. */
  readonly drop: () => void;
};

type Stdio = StdioNull | StdioPipe | number;

/** Without an input the process has an empty one. */
export const takeStreams = (hasInput: boolean): StandardStreams => {
  const outputs = takeOutputPipes();
  const input = hasInput ? takeInputPipe() : undefined;
  const [out, error] = [outputs?.stdout, outputs?.stderr];
  return {
    stdio: [hasInput ? (input?.reader ?? 'pipe') : 'ignore', out?.writer ?? 'pipe', error?.writer ?? 'pipe'],
    giveTo: (child) =>
      Object.assign(
        child,
        outputs && { stdout: outputs.stdout.reader, stderr: outputs.stderr.reader },
        input && { stdin: input.writer },
      ),
    release: () => {
      if (outputs !== undefined) closeWriters(outputs);
      if (input !== undefined) closeReader(input);
      prepareOutputPipes();
      if (hasInput) prepareInputPipe();
    },
    drop: () => {
      for (const end of [input?.writer, out?.reader, error?.reader]) end?.destroy();
    },
  };
};
