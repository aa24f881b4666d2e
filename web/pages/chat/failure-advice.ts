/**
 * The advice on a failed call, and whether a second try of a turn may help, by the code of the error. Pure. The table of errors that it
 * reads is loaded with the first failure alone.
 */
import { adviceOn, errorRules, isErrorCode } from '#shared/errors.ts';

const callCodes: ReadonlySet<string> = new Set([
  'tool_outcome_unknown',
  'sandbox_start_failed',
  'mcp_server_unavailable',
]);

/** Advice on a failed call: most of it is for the agent that made the call, and this is for a person. */
export const adviceOnCall = (code: string): string | undefined =>
  callCodes.has(code) ? adviceOn(code) : undefined;

/** False where a second try would end like the first. */
export const mayHelpAgain = (code: string): boolean =>
  !isErrorCode(code) || errorRules[code].retry !== 'never';
