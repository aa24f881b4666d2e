/**
 * Requests to one deployment, with its token; whatever is no success becomes a failure that says what to do.
 *
 * A request that was refused for its rate is sent again: nothing was done. So is one that met a sandbox which
 * still starts, unless it creates something.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Deployment } from './deployment.ts';
import { CliFailure, failure, readErrorBody } from './failure.ts';

export type HttpRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
};

export type HttpClient = Deployment & {
  /** Throws on any status that is no success. The body is not read yet. */
  readonly fetch: (path: string, request?: HttpRequest) => Promise<Response>;
  readonly get: <T>(path: string) => Promise<T>;
  readonly send: <T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown) => Promise<T>;
};

/** A sandbox may take two minutes to start; after this long nobody answers any more. */
const answerMsMax = 150_000;
const triesMax = 6;
const pauseMsDefault = 1000;
const pauseMsMax = 10_000;

export const makeHttpClient = ({ url, token }: Deployment): HttpClient => {
  const once = async (path: string, request: HttpRequest): Promise<Response> => {
    const { signal, ...rest } = request;
    const headers = { authorization: `Bearer ${token}`, ...request.headers };
    // The limit holds until an answer begins: a long download or a long-running program is not cut.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException('late', 'TimeoutError')), answerMsMax);
    const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      return await fetch(`${url}${path}`, { ...rest, headers, redirect: 'manual', signal: either });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw unreachable(url, cause);
    } finally {
      clearTimeout(timer);
    }
  };
  const send = async (path: string, request: HttpRequest = {}): Promise<Response> => {
    for (let tries = 1; ; tries += 1) {
      const response = await once(path, request);
      if (response.ok) return response;
      const refusal = await refusalOf(url, response);
      if (tries >= triesMax || !canRetry(refusal, request)) throw refusal;
      await pause(retryPauseMs(response));
    }
  };
  const json = async <T>(path: string, request: HttpRequest): Promise<T> =>
    parseBody<T>(url, await (await send(path, request)).text());
  return {
    url,
    token,
    fetch: send,
    get: (path) => json(path, {}),
    send: (method, path, body) =>
      json(path, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
  };
};

const parseBody = <T>(url: string, text: string): T => {
  if (text === '') return {} as T;
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw notOurs(url, 'the answer is not JSON', cause);
  }
};

const notOurs = (url: string, why: string, cause?: unknown): CliFailure =>
  failure('unexpected_answer', `${url} does not answer as a Sallyport does: ${why}`, {
    cause,
    suggestions: ['Check the URL with `sallyport whoami`.'],
  });

const refusalOf = async (url: string, response: Response): Promise<CliFailure> => {
  const text = await response.text();
  const body = readErrorBody(jsonOrNothing(text));
  if (body !== undefined) return new CliFailure(body);
  const { status, headers } = response;
  const target = headers.get('location');
  if (target !== null) return notOurs(url, `it redirects to ${URL.parse(target, url)?.origin ?? target}`);
  if (status === 401 || status === 403)
    return failure(status === 401 ? 'unauthenticated' : 'forbidden', `${url} refused the token`);
  return notOurs(url, `HTTP ${status}`);
};

const jsonOrNothing = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const canRetry = ({ body: { error } }: CliFailure, { method = 'GET' }: HttpRequest): boolean =>
  error.code === 'rate_limited' || (error.code === 'sandbox_starting' && method !== 'POST');

const retryPauseMs = ({ headers }: Response): number => {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? Math.min(seconds * 1000, pauseMsMax) : pauseMsDefault;
};

const isLoopback = (url: string): boolean => /^(127\.|localhost$|\[::1\])/.test(new URL(url).hostname);

export const unreachable = (url: string, cause: unknown): CliFailure => {
  const reason = reasonOf(cause);
  const suggestions = isLoopback(url)
    ? ['Start it with `npm start`, or name another deployment with `sallyport login --url <url>`.']
    : ['Check the URL with `sallyport whoami`, and the network.'];
  return failure('unreachable', `${url} cannot be reached: ${reason}`, { cause, suggestions });
};

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be resolved',
  ETIMEDOUT: 'no answer',
};

const reasonOf = (error: unknown): string => {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const inner = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = (inner as NodeJS.ErrnoException | null)?.code ?? '';
  return reasons[code] ?? (inner instanceof Error ? inner.message || code : String(inner));
};

export const segment = (text: string): string => encodeURIComponent(text);

/** A path with those of the fields that are given. */
export const withQuery = (path: string, fields: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${segment(value)}`],
  );
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
};

const pagesMax = 20;

/** A listing, page after page. */
export const listAll = async <T>(client: HttpClient, path: string, plural: string): Promise<readonly T[]> => {
  const items: T[] = [];
  let after: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const query = after === undefined ? '' : `${path.includes('?') ? '&' : '?'}after=${segment(after)}`;
    const answer = await client.get<Record<string, unknown>>(`${path}${query}`);
    items.push(...((answer[plural] ?? []) as T[]));
    if (typeof answer['next'] !== 'string') break;
    after = answer['next'];
  }
  return items;
};
