/**
 * A refusal: why a request was not carried out, in a code of the error table.
 *
 * Over HTTP it is the error body; as a tool result it is `isError` with the same words as JSON text. What
 * user code does wrong is never a refusal but a result.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';

const statuses = {
  invalid_request: 400,
  path_outside_workspace: 400,
  unauthenticated: 401,
  not_found: 404,
  file_not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  resource_limit_exceeded: 413,
  internal_error: 500,
  mcp_server_unavailable: 503,
  sandbox_unavailable: 503,
  tool_outcome_unknown: 503,
  execution_timeout: 504,
} as const satisfies Record<string, number>;

export type RefusalCode = keyof typeof statuses;

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The kernel may kill the runner for the memory of user code: the call has then ended, for a known reason. */
export const asMemoryLoss = (cause: unknown, memoryMbMax: number): unknown =>
  cause instanceof Refusal && cause.code === 'tool_outcome_unknown'
    ? new Refusal(
        'resource_limit_exceeded',
        `out of memory: the limit is ${memoryMbMax} MB; all processes of the sandbox were killed`,
        { cause },
      )
    : cause;

/** Anything else is our fault and says nothing of itself. */
const toRefusal = (cause: unknown): Refusal =>
  cause instanceof Refusal ? cause : new Refusal('internal_error', 'the sandbox failed', { cause });

export const toErrorResponse = (cause: unknown): { readonly status: number; readonly body: string } => {
  const { code, message } = toRefusal(cause);
  return { status: statuses[code], body: JSON.stringify({ error: { code, message } }) };
};

export const toErrorResult = (cause: unknown): CallToolResult => {
  const { code, message } = toRefusal(cause);
  return refusalResult(code, message);
};

export const refusalResult = (code: RefusalCode, message: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error: { type: code, message } }) }],
});
