/** Failures in words for a person: the title of one, its advice, and the sign that a program lacks a package. Pure. */
import { errorRules, isErrorCode } from '#shared/errors.ts';

const anyProvider = /\bthe model provider\b/i;

const ofDeployment: ReadonlySet<string> = new Set(['provider_auth_failed', 'provider_not_configured']);

/** The provider is not set up: the page of the providers tells more. */
export const needsProvider = (code: string): boolean => ofDeployment.has(code);

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

/** The server's sentence, with the name of the provider that it is about. */
export const failureTitle = (message: string, provider: string | undefined): string =>
  provider === undefined
    ? message
    : message.replace(anyProvider, provider).replace('refused the key', 'rejected the API key');

const signs: readonly RegExp[] = [
  /^ModuleNotFoundError: No module named /m,
  // A file of the program's own is no package.
  /\bCannot find (?:module|package) '[^./]/,
  /\bNo matching distribution found for /,
  /\bnpm (?:ERR!|error) code (?:ENOTFOUND|EAI_AGAIN)\b/,
];

/** A person can add it, and the program cannot say how. */
export const lacksPackage = (output: string): boolean => signs.some((sign) => sign.test(output));
