/**
 * A typed request of the REST API: the route says what goes in and what comes out, the contracts say their shapes.
 *
 * Whatever goes wrong is a `RequestError` with the words of the error table; a token that the server does not take
 * is told to whoever watches, once, besides.
 */

import type { output } from 'zod';
import type { errorAnswer } from '#shared/contracts/rest/error-view.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The names in braces of a path. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

export type Route<Path extends string, Shapes> = {
  readonly method: Method;
  readonly path: Path;
  /** Carried by the type alone. */
  readonly shapes?: Shapes;
};

type Shapes = { readonly query?: unknown; readonly body?: unknown; readonly answer: unknown };

type Parts<Path extends string, S extends Shapes> = ([NamesIn<Path>] extends [never]
  ? object
  : { readonly params: Readonly<Record<NamesIn<Path>, string>> }) &
  ('query' extends keyof S ? { readonly query?: S['query'] } : object) &
  ('body' extends keyof S ? { readonly body: S['body'] } : object);

export type RequestOptions = {
  readonly signal?: AbortSignal;
  /** Asks with another token than the one that is signed in; a refusal of it does not sign this tab out. */
  readonly token?: string;
};

type Wire = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

export type ErrorFacts = output<typeof errorAnswer>['error'];

/** A refusal or failure in the words of the server; `unreachable` when there was no answer at all. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly code: string;
  readonly suggestions: readonly string[];
  readonly recoveryActions: readonly string[];
  readonly requestId: string | undefined;
  readonly oldestIndex: number | undefined;

  constructor(status: number, facts: Partial<ErrorFacts>) {
    super(facts.message ?? `The server answered ${status}.`);
    this.status = status;
    this.code = facts.code ?? 'unexpected_answer';
    this.suggestions = facts.suggestions ?? [];
    this.recoveryActions = facts.recoveryActions ?? [];
    this.requestId = facts.requestId;
    this.oldestIndex = facts.oldestIndex;
  }
}

export type Credentials = {
  readonly token: () => string | null;
  /** The server does not take this token, or no longer does. */
  readonly onRefused: (token: string) => void;
};

const requestTimeoutMs = 30_000;

let credentials: Credentials = { token: () => null, onRefused: () => {} };

/** Said once, by whoever keeps the token. */
export const useCredentials = (given: Credentials): void => {
  credentials = given;
};

const pathOf = (path: string, params: Wire['params'] = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

const queryOf = (query: Wire['query'] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
};

/** The answer as it is, for bytes; one that is no success is thrown. */
export const send = async (
  url: string,
  init: RequestInit & { readonly timeoutMs?: number; readonly token?: string } = {},
): Promise<Response> => {
  const { timeoutMs = requestTimeoutMs, signal, token = credentials.token(), ...rest } = init;
  const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
  const headers = new Headers(rest.headers);
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(url, { ...rest, headers, signal: AbortSignal.any(signals) }).catch(
    (cause: unknown) => {
      if (signal?.aborted) throw cause;
      throw unreachable();
    },
  );
  if (response.ok) return response;
  const error = await errorOf(response);
  if (response.status === 401 && token !== null) credentials.onRefused(token);
  throw error;
};

const unreachable = (): RequestError =>
  new RequestError(0, {
    code: 'unreachable',
    message: 'The server does not answer.',
    suggestions: ['Check your connection, and that the server runs.'],
  });

const errorOf = async (response: Response): Promise<RequestError> => {
  const body: { readonly error?: Partial<ErrorFacts> } = await response.json().catch(() => ({}));
  return new RequestError(response.status, body.error ?? {});
};

export const request = async <Path extends string, S extends Shapes>(
  route: Route<Path, S>,
  ...[parts, options]: object extends Parts<Path, S>
    ? [Parts<Path, S>?, RequestOptions?]
    : [Parts<Path, S>, RequestOptions?]
): Promise<S['answer']> => {
  const { params, query, body } = (parts ?? {}) as Wire;
  const response = await send(pathOf(route.path, params) + queryOf(query), {
    method: route.method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...options,
  });
  return response.status === 204 ? undefined : response.json();
};
