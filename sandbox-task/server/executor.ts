/**
 * The executor: runs one program of the user to its result and watches its memory.
 *
 * The code calls of one context run one after another, those of two contexts at once. When the kernel kills for want
 * of memory while a call runs alone, its other processes are killed too.
 */
import { constants } from 'node:os';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Surroundings } from '../wire/messages.ts';
import { type CodeContext, contextKey } from '../wire/program-messages.ts';
import { limitKillOf, toExecutionResult } from './execution-result.ts';
import { createLineSplitter, type LogRing } from './logs.ts';
import type { MemoryCounters } from './memory-counters.ts';
import type { MemoryWatch } from './memory-watch.ts';
import { asMemoryLoss, Refusal } from './refusal.ts';
import type { Exit, OutputPiece, UserSide, Work } from './user-side.ts';

export type Limits = { readonly memoryMbMax: number; readonly processesMax: number };
type Program = Pick<Surroundings, 'cwd' | 'env'> & {
  readonly work: Work;
  readonly timeoutSeconds: number;
  /** Characters of each stream in the result; the whole is in a file. */
  readonly outputLimit?: number | undefined;
};
export type ExecutionContext = {
  readonly signal: AbortSignal;
  readonly onOutput: (piece: OutputPiece) => void;
};
export type Executor = (program: Program, context: ExecutionContext) => Promise<CallToolResult>;

const memoryWatchMs = 100;
const killedExitCode = 137;

export type ExecutorParts = {
  readonly userSide: UserSide;
  readonly limits: Limits;
  readonly counters: Pick<MemoryCounters, 'measurePeak'> | undefined;
  readonly memory: MemoryWatch;
  readonly logRing: LogRing;
  /** All calls that run now: programs and calls of MCP servers. */
  readonly running: Set<object>;
};

export const createExecutor = (parts: ExecutorParts): Executor => {
  const { userSide, limits, counters, memory, logRing, running } = parts;
  const queue = createCodeQueue();
  const run: Executor = async ({ work, timeoutSeconds, outputLimit, ...place }, { signal, onOutput }) => {
    signal.throwIfAborted();
    const watched = memory.begin();
    const peak = counters?.measurePeak();
    const stderr = createLineSplitter((line) => logRing.add('stderr', line));
    const takeOutput = (piece: OutputPiece): void => {
      if (piece.stream === 'stderr') stderr.push(piece);
      onOutput(piece);
    };
    const timeoutMs = timeoutSeconds * 1000;
    const execution = await userSide
      .execute({ ...{ work, timeoutMs, ...place, storedOver: outputLimit }, onOutput: takeOutput })
      .catch((cause: unknown) => {
        watched.end();
        peak?.end();
        throw cause;
      });
    running.add(execution);
    const cancel = (): void => execution.kill('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const watch = setInterval(() => {
      peak?.sample();
      if (watched.isCharged()) execution.kill('memory');
    }, memoryWatchMs);
    try {
      const ended = await execution.ended;
      const isOutOfMemory = watched.wasOutOfMemory(isKilled(ended.exit));
      const circumstances = { ...limits, timeoutSeconds, isOutOfMemory, memoryPeakMb: peak?.readMb() };
      const kill = limitKillOf(ended.exit, circumstances);
      if (kill !== undefined) logRing.add('lifecycle', `a call was killed: ${kill}`);
      const hasBundles = 'hasBundles' in work && work.hasBundles;
      return toExecutionResult({ ...ended, hasBundles, outputLimit }, circumstances, constants.signals);
    } catch (cause) {
      logRing.add('lifecycle', 'all processes of the sandbox were killed while a call ran');
      throw watched.hasSeenKill() ? asMemoryLoss(cause, limits.memoryMbMax) : cause;
    } finally {
      stderr.end();
      clearInterval(watch);
      signal.removeEventListener('abort', cancel);
      running.delete(execution);
      watched.end();
      peak?.end();
    }
  };
  return (program, context) =>
    'language' in program.work
      ? queue.run(program.work, context.signal, () => run(program, context))
      : run(program, context);
};

const isKilled = ({ signal, exitCode, killedFor }: Exit): boolean =>
  killedFor === null && (signal === 'SIGKILL' || exitCode === killedExitCode);

type CodeQueue = {
  readonly run: <Result>(
    context: CodeContext,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ) => Promise<Result>;
};

const waitingMax = 100;

const createCodeQueue = (): CodeQueue => {
  const lasts = new Map<string, Promise<void>>();
  let waiting = 0;
  return {
    run: async (context, signal, work) => {
      if (waiting >= waitingMax)
        throw new Refusal('resource_limit_exceeded', `${waiting} calls wait for an interpreter already`);
      waiting += 1;
      const key = contextKey(context);
      const previous = lasts.get(key) ?? Promise.resolve();
      const over = Promise.withResolvers<void>();
      const last = previous.then(() => over.promise);
      lasts.set(key, last);
      void last.then(() => {
        if (lasts.get(key) === last) lasts.delete(key);
      });
      try {
        await unlessAborted(previous, signal);
      } catch (cause) {
        over.resolve();
        throw cause;
      } finally {
        waiting -= 1;
      }
      try {
        return await work();
      } finally {
        over.resolve();
      }
    },
  };
};

const unlessAborted = (previous: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = (): void =>
      reject(new Refusal('invalid_request', 'the call was cancelled while it waited; it did not run'));
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    void previous.then(() => {
      signal.removeEventListener('abort', cancel);
      resolve();
    });
  });
