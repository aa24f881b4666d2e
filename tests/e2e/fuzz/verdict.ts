/**
 * Verdict on an answer to a malformed request: its fault in one line, or nothing.
 *
 * A refusal of ours has the body of the contract: a known code, the status that the table gives it, the id of the
 * request. A refusal by Node itself has no body; a missing file of the web page is answered as such.
 */
import { challengeOf } from '../server.ts';
import type { Cast } from './cast.ts';
import type { RawAnswer, RawRequest } from './raw-http.ts';

type Answered = Extract<RawAnswer, { readonly kind: 'answered' }>;

/** The table as clients know it (docs/runbook.md). */
const statuses: Readonly<Record<string, number>> = {
  ...withStatus(
    400,
    'invalid_request invalid_flavor unsupported_language path_outside_workspace provider_not_configured',
  ),
  ...withStatus(401, 'unauthenticated'),
  ...withStatus(403, 'forbidden'),
  ...withStatus(404, 'not_found session_not_found project_not_found workspace_not_found schedule_not_found'),
  ...withStatus(404, 'token_not_found mcp_server_not_found file_not_found'),
  ...withStatus(426, 'upgrade_required'),
  ...withStatus(409, 'invalid_session_state conflict no_pending_tool_call'),
  ...withStatus(410, 'events_purged'),
  ...withStatus(413, 'payload_too_large'),
  ...withStatus(429, 'resource_limit_exceeded rate_limited too_many_requests'),
};

function withStatus(status: number, codes: string): Record<string, number> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, status]));
}

export const isRefusalCode = (code: unknown): boolean =>
  typeof code === 'string' && Object.hasOwn(statuses, code);

const repository = `${import.meta.dirname.split('/tests/')[0]}/`;
const ownPaths = [repository, 'node_modules', '.ts:', 'file://', 'node:internal'];
const stack = /\n\s+at |\bat [\w.<>]+ \(/;
const resourceName = /\barn:aws/;

/** Of whatever went out, on any door. */
export const leakIn = (text: string, { secrets }: Pick<Cast, 'secrets'>): string | undefined => {
  if (stack.test(text)) return 'it shows a stack';
  if (resourceName.test(text)) return 'it shows an ARN';
  const path = ownPaths.find((one) => text.includes(one));
  if (path !== undefined) return `it shows a path of ours: ${path}`;
  return secrets.some((secret) => text.includes(secret)) ? 'it shows a secret' : undefined;
};

/** Of a refusal's body; `undefined` when it is as the contract has it. */
export const refusalProblem = ({ status, headers, text }: Answered): string | undefined => {
  const error = errorIn(text);
  if (error === undefined) return `a refusal without the body of the contract: ${text.slice(0, 300)}`;
  const { code, message, suggestions, recoveryActions, requestId } = error;
  if (!isRefusalCode(code)) return `an unknown code: ${String(code)}`;
  if (statuses[String(code)] !== status) return `${String(code)} with status ${status}`;
  if (typeof message !== 'string' || message === '') return 'a refusal without a message';
  if (!isTexts(suggestions) || !isTexts(recoveryActions))
    return 'a refusal without suggestions or recoveryActions';
  if (requestId !== headers.get('x-amzn-requestid')) return 'a refusal without the id of its request';
  if (status === 401 && !/^Bearer\b/.test(challengeIn(headers))) return '401 without WWW-Authenticate';
  if (status === 429 && headers.get('retry-after') !== '1') return '429 without Retry-After';
  return undefined;
};

/** A refusal of `/mcp` keeps the header's name, one of another path has the name that API Gateway gives it. */
const challengeIn = (headers: Answered['headers']): string =>
  headers.get('www-authenticate') ??
  challengeOf({ headers: { get: (name) => headers.get(name) ?? null } }) ??
  '';

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const errorIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const error = parsed(text)?.['error'];
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined;
};

export const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

/** Node answers these itself, without a body, and hangs up. */
const byParser = [400, 408, 417, 431];

const isOfParser = ({ status, headers, text }: Answered): boolean =>
  byParser.includes(status) && text === '' && !headers.has('x-amzn-requestid');

/** CloudFront gives what is below none of our paths to the bucket of the web page. */
const isOfWebPage = ({ status, text }: Answered, target: string): boolean =>
  status < 500 && !isOurs(target) && (status === 200 || text === 'Not found\n' || text === '');

/** As the server reads a request target. */
export const pathOf = (target: string): string =>
  new URL(`http://origin${target.startsWith('/') ? target : '/'}`).pathname;

const isOurs = (target: string): boolean => /^\/(api\/.|mcp$|ws)/s.test(pathOf(target));

/** Checks every HTTP answer; `settled` says that there is nothing left to look at. */
export const commonProblem = (
  { target, framing }: RawRequest,
  answer: RawAnswer,
  cast: Cast,
): { readonly problem: string } | { readonly settled: true } | { readonly answered: Answered } => {
  if (answer.kind === 'silent') return { problem: 'no answer in time' };
  // Nothing is owed to who hangs up, or goes on after a head that is none, or uploads to a file of the web page.
  const isOwed = ['length', 'chunked', 'expect'].includes(framing) && isOurs(target);
  if (answer.kind === 'cut') return isOwed ? { problem: 'no whole answer' } : { settled: true };
  const { status, text, headers } = answer;
  if (status >= 500) return { problem: `status ${status}: ${text.slice(0, 500)}` };
  const leak = leakIn(`${text}\n${[...headers.values()].join('\n')}`, cast);
  if (leak !== undefined && !isOfWebPage(answer, target))
    return { problem: `${leak}: ${text.slice(0, 500)}` };
  if (isOfParser(answer) || isOfWebPage(answer, target)) return { settled: true };
  return { answered: answer };
};
