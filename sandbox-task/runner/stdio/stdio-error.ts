/** Why an MCP server over stdio did not answer. */
import type { StdioFailure } from '../../wire/messages.ts';

export class StdioError extends Error {
  override readonly name = 'StdioError';
  readonly failure: StdioFailure;

  constructor(failure: StdioFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
