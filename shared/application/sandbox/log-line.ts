/** A line of a sandbox as the log of its workspace has it: its generation and number name it, however often it is read. */
import type { LogLine } from '../../ports/sandbox.ts';
import type { SandboxLogLine } from '../../ports/workspace-archive.ts';

export const logLineOf = (generation: number, { number, at, stream, text }: SandboxLogLine): LogLine => ({
  ...{ at, stream, text },
  id: `${generation}:${number}`,
});
