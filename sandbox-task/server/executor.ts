/**
 * The executor: runs one program of the user to its result and watches its memory meanwhile.
 *
 * When the kernel kills for want of memory, the call that ran alone is the one; of several at once, those
 * that a SIGKILL ended. Its other processes are killed too.
 */
import { constants } from 'node:os';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { toExecutionResult } from './execution-result.ts';
import type { MemoryCounters } from './memory-counters.ts';
import type { Exit, OutputPiece, RunningExecution, UserSide } from './user-side.ts';

export type Limits = { readonly memoryMbMax: number; readonly processesMax: number };
export type Program = { readonly argv: readonly string[]; readonly timeoutSeconds: number };
export type ExecutionContext = {
  readonly signal: AbortSignal;
  readonly onOutput: (piece: OutputPiece) => void;
};
export type Executor = (program: Program, context: ExecutionContext) => Promise<CallToolResult>;

const memoryWatchMs = 100;
const killedExitCode = 137;

export const createExecutor = (
  userSide: UserSide,
  limits: Limits,
  counters: MemoryCounters | undefined,
): Executor => {
  const running = new Set<RunningExecution>();
  return async ({ argv, timeoutSeconds }, { signal, onOutput }) => {
    signal.throwIfAborted();
    const oomKillsBefore = counters?.oomKills() ?? 0;
    const isOomRisen = (): boolean => (counters?.oomKills() ?? 0) > oomKillsBefore;
    const peak = counters?.measurePeak();
    const execution = await userSide.execute({ argv, timeoutMs: timeoutSeconds * 1000, onOutput });
    running.add(execution);
    const cancel = (): void => execution.kill('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const watch = setInterval(() => {
      if (running.size === 1 && isOomRisen()) execution.kill('memory');
    }, memoryWatchMs);
    try {
      const ended = await execution.ended;
      const isOutOfMemory = isOomRisen() && (running.size === 1 || isKilled(ended.exit));
      const circumstances = { ...limits, timeoutSeconds, isOutOfMemory, memoryPeakMb: peak?.readMb() };
      return toExecutionResult(ended, circumstances, constants.signals);
    } finally {
      clearInterval(watch);
      signal.removeEventListener('abort', cancel);
      running.delete(execution);
      peak?.end();
    }
  };
};

const isKilled = ({ signal, exitCode }: Exit): boolean => signal === 'SIGKILL' || exitCode === killedExitCode;
