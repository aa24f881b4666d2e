/**
 * The calls of the sandbox's tools, however they came: by the platform's own route or over MCP.
 *
 * A call with an id outlives its connection, and a repeat is answered from the registry; with `waitMs` it is answered by then, even
 * if the call still runs. A call without an id ends with its request. A failure is a result, in the words of the product.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { executionSecondsMax } from '#shared/domain/limits.ts';
import type { CallRegistry, CallWork } from './call-registry.ts';
import type { Executor } from './executor.ts';
import type { Log } from './logs.ts';
import { Refusal, toErrorResult } from './refusal.ts';
import type { StdioCaller } from './stdio-caller.ts';
import { tools } from './tools.ts';
import type { OutputPiece, UserSide } from './user-side.ts';

type CallParts = {
  readonly userSide: UserSide;
  readonly execute: Executor;
  readonly askStdio: StdioCaller;
  readonly registry: CallRegistry;
  readonly log: Log;
};

/** As a caller wrote it: nothing of it has been checked. */
export type ToolCall = {
  readonly name: string;
  readonly input: unknown;
  readonly callId: unknown;
  readonly waitMs: unknown;
  readonly correlationId: string | undefined;
  readonly onOutput: (piece: OutputPiece) => void;
  /** Ends a call without an id. */
  readonly signal: AbortSignal;
};

/** `running`: the call goes on after its `waitMs`. */
export type ToolCalls = (call: ToolCall) => Promise<CallToolResult | 'running'>;

const callIdSchema = z.string().min(1).max(256).optional();
/** As long as any program may run. */
const waitSchema = z
  .int()
  .min(0)
  .max(executionSecondsMax * 1000)
  .optional();
const causeCharactersMax = 500;

export const createToolCalls =
  (parts: CallParts): ToolCalls =>
  async (call) => {
    const { log } = parts;
    const about = { tool: call.name, callId: String(call.callId ?? ''), correlation_id: call.correlationId };
    const startedAt = performance.now();
    try {
      const result = await run(parts, call);
      if (result !== 'running')
        log.info('tool call ended', { ...about, durationMs: Math.round(performance.now() - startedAt) });
      return result;
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      log.warn('tool call failed', { ...about, cause: message.slice(0, causeCharactersMax) });
      return toErrorResult(cause);
    }
  };

const run = async (
  { registry, userSide, execute, askStdio }: CallParts,
  call: ToolCall,
): Promise<CallToolResult | 'running'> => {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined)
    throw new Refusal('invalid_request', `there is no tool ${JSON.stringify(call.name)}`);
  const callId = callIdSchema.safeParse(call.callId);
  if (!callId.success) throw new Refusal('invalid_request', 'a call id has 1 to 256 characters');
  const waitMs = waitSchema.safeParse(call.waitMs);
  if (!waitMs.success) throw new Refusal('invalid_request', 'a wait is at most an hour, in milliseconds');
  const work: CallWork = async (context) => tool.run(call.input, { ...context, userSide, execute, askStdio });
  return callId.data === undefined
    ? work(call)
    : registry.run(callId.data, { onOutput: call.onOutput, waitMs: waitMs.data }, work);
};

/**
 * Runs a program that does nothing, as a command of a user would run: the first call compiles the schema of its tool, and has the
 * runner run its code for the first time, which takes longer than the program of most commands.
 */
export const prepareCalls = async (calls: ToolCalls): Promise<void> => {
  await calls({
    ...{ name: 'execute_command', input: { command: 'true' } },
    ...{ callId: undefined, waitMs: undefined, correlationId: undefined },
    onOutput: () => undefined,
    signal: new AbortController().signal,
  });
};
