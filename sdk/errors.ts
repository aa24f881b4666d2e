/**
 * Refusals and failures of a request, in the words of the server's error table (docs/runbook.md).
 *
 * `unreachable`: there was no answer. `unexpected_answer`: the answer was not Sallyport's.
 */
import type { output } from 'zod';
import type { errorAnswer } from '../shared/contracts/rest/error-view.ts';

/** The error body of the contract, with whatever else a server added to it. */
export type ErrorFacts = Omit<output<typeof errorAnswer>['error'], 'requestId'> & {
  readonly requestId?: string;
};

export class SallyportError extends Error {
  override readonly name = 'SallyportError';
  /** Of the HTTP answer; 0: there was none. */
  readonly status: number;
  readonly code: string;
  readonly suggestions: readonly string[];
  readonly requestId: string | undefined;
  readonly facts: ErrorFacts;
  /** The pause for which the server asks before another try. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, facts: GivenFacts, options?: RefusalOptions) {
    super(facts.message, options);
    this.retryAfterMs = options?.retryAfterMs;
    this.status = status;
    this.facts = { suggestions: [], recoveryActions: [], ...facts };
    this.code = facts.code;
    this.suggestions = this.facts.suggestions;
    this.requestId = facts.requestId;
  }
}

type RefusalOptions = ErrorOptions & { readonly retryAfterMs?: number | undefined };
type GivenFacts = Pick<ErrorFacts, 'code' | 'message'> & Partial<ErrorFacts>;

export const unexpectedAnswer = (
  url: string,
  why: string,
  { status = 0, cause }: { readonly status?: number; readonly cause?: unknown } = {},
): SallyportError => {
  const message = `${url} does not answer as a Sallyport does: ${why}`;
  return new SallyportError(
    status,
    { code: 'unexpected_answer', message, suggestions: ['Check the URL.'] },
    { cause },
  );
};

export const unreachable = (url: string, cause: unknown): SallyportError => {
  const [why, advice] = isLate(cause)
    ? ['did not answer in time', 'Check the URL. Check whether it was done. If not, send it again.']
    : [
        `cannot be reached: ${reasonOf(cause)}`,
        ((globalThis as Page).location?.origin ?? url) === url
          ? 'Check the URL, your connection, and that the server runs.'
          : 'A page reaches its own origin alone (CORS).',
      ];
  return new SallyportError(
    0,
    { code: 'unreachable', message: `${url} ${why}`, suggestions: [advice] },
    { cause },
  );
};

/** Undefined outside of browsers. */
type Page = { readonly location?: { readonly origin: string } };

/** No answer came in time: whether the server has the request is not known. */
export const isLate = (cause: unknown): boolean => (cause as Error | undefined)?.name === 'TimeoutError';

export const connectionLost = (cause?: unknown): SallyportError =>
  new SallyportError(0, { code: 'connection_lost', message: 'the connection was lost' }, { cause });

/** As Node names them; a browser does not tell. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be resolved',
  ETIMEDOUT: 'no answer',
};

const reasonOf = (error: unknown): string => {
  const inner = ((error as ErrorOptions | undefined)?.cause ?? error) as Partial<SystemError> | undefined;
  return reasons[inner?.code ?? ''] ?? (inner?.message || inner?.code || String(inner));
};

type SystemError = { readonly code: string; readonly message: string };

/** The refusal in an answer that is no success. */
export const refusalOf = async (url: string, response: Response): Promise<SallyportError> => {
  const { status, headers } = response;
  const facts = readFacts(parsed(await response.text()));
  if (facts !== undefined) return new SallyportError(status, facts, { retryAfterMs: retryAfterOf(headers) });
  const target = headers.get('location');
  const why = target === null ? `HTTP ${status}` : `it redirects to ${originOf(target, url)}`;
  return unexpectedAnswer(url, why, { status });
};

/** A server that asks for more than an hour is asked again after one. */
const retryAfterOf = (headers: Headers): number | undefined => {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? Math.min(seconds, 3600) * 1000 : undefined;
};

const originOf = (target: string, url: string): string =>
  URL.canParse(target, url) ? new URL(target, url).origin : target;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isText = (value: unknown): value is string => typeof value === 'string';
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);

/** Undefined for an answer that is no error body. */
export const readFacts = (answer: unknown): ErrorFacts | undefined => {
  const error = (answer as { error?: unknown } | null | undefined)?.error;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message, suggestions, recoveryActions, ...rest } = error as Record<string, unknown>;
  if (!isText(code) || !isText(message)) return undefined;
  return { code, message, suggestions: texts(suggestions), recoveryActions: texts(recoveryActions), ...rest };
};
