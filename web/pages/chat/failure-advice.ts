/** The advice on a failure, by its code. Pure. It reads the table of errors, which is loaded with the first failure alone. */
import { errorRules, isErrorCode } from '#shared/errors.ts';

/** Advice on a failed turn: the log has none. Empty for a code of a newer server. */
export const adviceOn = (code: string): readonly string[] =>
  isErrorCode(code) ? [errorRules[code].advice] : [];

const callCodes: ReadonlySet<string> = new Set([
  'tool_outcome_unknown',
  'sandbox_start_failed',
  'mcp_server_unavailable',
]);

/** Advice on a failed call: most of it is for the agent that made the call, and this is for a person. */
export const adviceOnCall = (code: string): readonly string[] => (callCodes.has(code) ? adviceOn(code) : []);

/** False where a second try would end like the first. */
export const mayHelpAgain = (code: string): boolean =>
  !isErrorCode(code) || errorRules[code].retry !== 'never';
