/**
 * A refusal: why a request was not carried out, with a code and a status of the error table (shared/errors.ts).
 *
 * Over HTTP it is the error body; as a tool result it is `isError` with the same text as JSON. A failure of user
 * code is never a refusal but a result.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ErrorCode, errorRules } from '#shared/errors.ts';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The kernel may kill the runner when user code fills the memory: the call has then ended for a known reason. */
export const asMemoryLoss = (cause: unknown, memoryMbMax: number): unknown =>
  cause instanceof Refusal && cause.code === 'tool_outcome_unknown'
    ? new Refusal(
        'resource_limit_exceeded',
        `out of memory: the limit is ${memoryMbMax} MB; all processes of the sandbox were killed`,
        { cause },
      )
    : cause;

/** Any other error is a fault of the server, and its message stays here. */
const toRefusal = (cause: unknown): Refusal =>
  cause instanceof Refusal ? cause : new Refusal('internal_error', 'the sandbox failed', { cause });

export const toErrorResponse = (cause: unknown): { readonly status: number; readonly body: string } => {
  const { code, message } = toRefusal(cause);
  return { status: errorRules[code].status, body: JSON.stringify({ error: { code, message } }) };
};

export const toErrorResult = (cause: unknown): CallToolResult => {
  const { code, message } = toRefusal(cause);
  return refusalResult(code, message);
};

export const refusalResult = (code: ErrorCode, message: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error: { type: code, message } }) }],
});
