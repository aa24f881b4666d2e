/**
 * The caller of MCP servers on the user's side: one request to its result.
 *
 * Calls of one MCP server run at once; it is the same process from call to call, and a result says when it is not.
 * A kill for want of memory counts as in the executor.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { StdioWork } from '../wire/program-messages.ts';
import type { ExecutionContext, ExecutorParts } from './executor.ts';
import type { LogRing } from './logs.ts';
import { asMemoryLoss } from './refusal.ts';
import type { Answer } from './runner-process.ts';
import {
  describeStdioFailure,
  type StdioCircumstances,
  toStdioFailure,
  toStdioResult,
  toToolListResult,
} from './stdio-result.ts';
import type { RunningStdio } from './user-side.ts';

type StdioCallRequest = { readonly work: StdioWork; readonly timeoutSeconds: number };
export type StdioCaller = (question: StdioCallRequest, context: ExecutionContext) => Promise<CallToolResult>;

export const createStdioCaller = (parts: ExecutorParts): StdioCaller => {
  const { userSide, limits, memory, running } = parts;
  const states = createStateMemory();
  return async ({ work, timeoutSeconds }, { signal, onOutput }) => {
    signal.throwIfAborted();
    const watched = memory.begin();
    const onProgress = createProgressStream(onOutput);
    const asked = userSide.askStdio({ work, timeoutMs: timeoutSeconds * 1000, onProgress });
    const call = await asked.catch((cause: unknown) => {
      watched.end();
      throw cause;
    });
    running.add(call);
    try {
      const answer = await endOf(call, signal).catch((cause: unknown) => {
        throw watched.hasSeenKill() ? asMemoryLoss(cause, limits.memoryMbMax) : cause;
      });
      const { message } = answer;
      const isKilled = message.type === 'stdio-failure' && message.failure === 'died';
      const isOutOfMemory = watched.wasOutOfMemory(isKilled);
      const isStateLost = states.record(work.server, answer);
      const about = { ...limits, server: work.server.name, timeoutSeconds, isOutOfMemory, isStateLost };
      return toResult(answer, about, parts.logRing);
    } finally {
      running.delete(call);
      watched.end();
    }
  };
};

const endOf = async (call: RunningStdio, signal: AbortSignal): Promise<Answer> => {
  const cancel = (): void => call.kill('cancelled');
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await call.ended;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

const toResult = (
  { message, payload }: Answer,
  about: StdioCircumstances,
  logRing: LogRing,
): CallToolResult => {
  switch (message.type) {
    case 'stdio-result':
      return toStdioResult(message, payload, about.isStateLost);
    case 'stdio-tools':
      return toToolListResult(message, payload, about.isStateLost);
    case 'stdio-failure':
      if (message.isLost)
        logRing.add(
          'lifecycle',
          `MCP server ${about.server} has ended: ${describeStdioFailure(message, about)}`,
        );
      return toStdioFailure(message, about);
    default:
      throw new Error(`the runner answered ${message.type}`);
  }
};

/** Which MCP servers have answered, and so had something to lose: by their names and configurations. */
const createStateMemory = () => {
  const known = new Set<string>();
  return {
    /** True when its state is lost, which is reported once. */
    record: (server: StdioWork['server'], { message }: Answer): boolean => {
      const key = JSON.stringify(server);
      const wasLost = 'isFresh' in message && message.isFresh && known.delete(key);
      const isLost = message.type === 'stdio-failure' && message.isLost && known.delete(key);
      if (message.type === 'stdio-result') {
        // A sandbox has few, whose configurations change now and then.
        if (known.size >= knownMax) known.clear();
        known.add(key);
      }
      return wasLost || isLost;
    },
  };
};

const knownMax = 100;

/** Progress looks like output, which is what a client of ours follows. */
const createProgressStream = (onOutput: ExecutionContext['onOutput']): ((text: string) => void) => {
  let offset = 0;
  return (text) => {
    onOutput({ stream: 'stdout', offset, text });
    offset += Buffer.byteLength(text);
  };
};
