/**
 * The answer of an MCP server as a tool result for the platform: its blocks, and fields about the call.
 *
 * Pure. A failure of the MCP server's tool is a result with `is_error`, so that no text of a tool can look like a
 * refusal of the platform; a missing answer is `isError` with a code of the error table.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { onFirstUse } from '#shared/contracts/on-first-use.ts';
import type { ErrorCode } from '#shared/errors.ts';
import type { StdioAnswer, StdioFailure } from '../wire/messages.ts';
import {
  structuredBytesMax,
  toolDescriptionCharactersMax,
  toolListBytesMax,
  toolNameCharactersMax,
  toolsMax,
} from '../wire/program-messages.ts';
import { refusalResult } from './refusal.ts';

type AnswerOf<Type extends StdioAnswer['type']> = Extract<StdioAnswer, { type: Type }>;

const lostFields = (isLost: boolean) => (isLost ? { state_lost: true } : {});

export const toStdioResult = (
  answer: AnswerOf<'stdio-result'>,
  payload: Buffer,
  isStateLost: boolean,
): CallToolResult => {
  const blocksBytes = answer.blocks.reduce((sum, { bytes }) => sum + bytes, 0);
  const structured = readStructured(payload.subarray(blocksBytes, blocksBytes + answer.structuredBytes));
  return {
    content: readBlocks(answer.blocks, payload),
    structuredContent: {
      is_error: answer.isError,
      execution_time_ms: answer.durationMs,
      ...(structured === undefined ? {} : { structured }),
      ...(answer.errorCode === null ? {} : { rpc_error_code: answer.errorCode }),
      ...(answer.isCut ? { content_truncated: true } : {}),
      ...lostFields(isStateLost),
    },
  };
};

const readBlocks = (
  blocks: AnswerOf<'stdio-result'>['blocks'],
  payload: Buffer,
): CallToolResult['content'] => {
  let at = 0;
  return blocks.map(({ mimeType, bytes }) => {
    const content = payload.subarray(at, at + bytes);
    at += bytes;
    return mimeType.startsWith('text/')
      ? { type: 'text' as const, text: content.toString() }
      : { type: 'image' as const, data: content.toString('base64'), mimeType };
  });
};

const record = onFirstUse(() => z.record(z.string(), z.unknown()));

const readStructured = (bytes: Buffer): Readonly<Record<string, unknown>> | undefined => {
  if (bytes.length === 0 || bytes.length > structuredBytesMax) return undefined;
  try {
    return record().parse(JSON.parse(bytes.toString()));
  } catch {
    return undefined;
  }
};

const toolList = onFirstUse(() =>
  z
    .array(
      z.object({
        name: z.string().min(1).max(toolNameCharactersMax),
        description: z.string().max(toolDescriptionCharactersMax).optional(),
        inputSchema: record(),
      }),
    )
    .max(toolsMax),
);

/** Throws on a list that the runner cannot have sent. */
export const toToolListResult = (
  { leftOut }: AnswerOf<'stdio-tools'>,
  payload: Buffer,
  isStateLost: boolean,
): CallToolResult => {
  if (payload.length > toolListBytesMax) throw new Error('a list of tools over its bound');
  const tools = toolList().parse(JSON.parse(payload.toString()));
  const text = `${tools.length} tools${leftOut === 0 ? '' : `, ${leftOut} more left out`}`;
  return {
    content: [{ type: 'text', text }],
    structuredContent: {
      tools,
      ...(leftOut === 0 ? {} : { tools_left_out: leftOut }),
      ...lostFields(isStateLost),
    },
  };
};

export type StdioCircumstances = {
  readonly server: string;
  readonly timeoutSeconds: number;
  readonly memoryMbMax: number;
  readonly processesMax: number;
  /** The kernel killed for want of memory while it was asked. */
  readonly isOutOfMemory: boolean;
  /** The state of this MCP server, or of the one before it. */
  readonly isStateLost: boolean;
};

export const toStdioFailure = (
  answer: AnswerOf<'stdio-failure'>,
  circumstances: StdioCircumstances,
): CallToolResult => {
  const { stderrTail, hasRun } = answer;
  const cause = causeOf(answer, circumstances);
  if (cause === 'cancelled') {
    const error = { type: 'cancelled', message: 'cancelled' };
    return {
      content: [{ type: 'text', text: 'Error: cancelled' }],
      structuredContent: { error, ...lostFields(circumstances.isStateLost) },
    };
  }
  const why = describeStdioFailure(answer, circumstances);
  const lost = circumstances.isStateLost ? '; its state in memory is lost' : '';
  const isItsFault = cause === 'start' || cause === 'protocol' || cause === 'died';
  const tail = isItsFault && stderrTail !== '' ? `; its last words:\n${stderrTail}` : '';
  const refusal = refusalResult(
    codeOf(cause, hasRun),
    `MCP server ${circumstances.server}: ${why}${lost}${tail}`,
  );
  // An unknown outcome may also be that of a lost runner: the registry counts this one against the server.
  return cause === 'died' ? { ...refusal, structuredContent: { server_died: true } } : refusal;
};

const codeOf = (cause: StdioFailure, hasRun: boolean): ErrorCode => {
  switch (cause) {
    case 'start':
    case 'protocol':
    case 'died':
      return hasRun ? 'tool_outcome_unknown' : 'mcp_server_unavailable';
    case 'timeout':
      return hasRun ? 'execution_timeout' : 'mcp_server_unavailable';
    default:
      return 'resource_limit_exceeded';
  }
};

const causeOf = (
  { failure }: AnswerOf<'stdio-failure'>,
  { isOutOfMemory }: StdioCircumstances,
): StdioFailure => (failure === 'died' && isOutOfMemory ? 'memory' : failure);

export const describeStdioFailure = (
  answer: AnswerOf<'stdio-failure'>,
  circumstances: StdioCircumstances,
): string => {
  switch (causeOf(answer, circumstances)) {
    case 'timeout':
      return answer.message.replace('timed out', `timed out after ${circumstances.timeoutSeconds} s`);
    case 'memory':
      return `out of memory: the limit is ${circumstances.memoryMbMax} MB`;
    case 'processes':
      return `process limit reached: at most ${circumstances.processesMax} processes and threads`;
    default:
      return answer.message;
  }
};
