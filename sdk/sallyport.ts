/**
 * The client of one deployment: typed requests of its REST API, with its token.
 *
 * A route says what goes in and what comes out; the contracts say their shapes. A request that was refused for its rate
 * is sent again: nothing was done. So is one that met a sandbox which still starts, unless it creates something.
 */
import { refusalOf, type SallyportError, unexpectedAnswer, unreachable } from './errors.ts';

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

export type Shapes = { readonly query?: unknown; readonly body?: unknown; readonly answer: unknown };

/** The parts of a request that a route leaves open. */
type Parts<Path extends string, S extends Shapes> = ([NamesIn<Path>] extends [never]
  ? object
  : { readonly params: Readonly<Record<NamesIn<Path>, string>> }) &
  ('query' extends keyof S ? { readonly query?: S['query'] } : object) &
  ('body' extends keyof S ? { readonly body: S['body'] } : object);

export type AnswerOf<R> = R extends Route<string, infer S extends Shapes> ? S['answer'] : never;
export type BodyOf<R> = R extends Route<string, { readonly body: infer Body }> ? Body : never;
export type QueryOf<R> = R extends Route<string, { readonly query: infer Query }> ? Query : never;

type RequestOptions = { readonly signal?: AbortSignal };
export type RequestArguments<Path extends string, S extends Shapes> =
  object extends Parts<Path, S>
    ? [parts?: Parts<Path, S>, options?: RequestOptions]
    : [parts: Parts<Path, S>, options?: RequestOptions];

export type FetchOptions = RequestOptions & {
  readonly method?: Method | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Blob | Uint8Array<ArrayBuffer>;
  readonly timeoutMs?: number;
};

/** As much of a WebSocket as is used: that of a browser, of Node, or of the package `ws`. */
export type SocketLike = {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
};

export type SallyportOptions = {
  /** Of the deployment: its origin counts. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly fetch?: typeof globalThis.fetch;
  readonly WebSocket?: new (url: string, protocols: string[]) => SocketLike;
  /** Until an answer begins: a long download is not cut. A sandbox may take two minutes to start. */
  readonly timeoutMs?: number;
  /** Of a request that may be sent again, all tries counted. */
  readonly triesMax?: number;
};

const timeoutMsDefault = 150_000;
const triesMaxDefault = 6;
const pauseMsDefault = 1000;
const pauseMsMax = 10_000;

export class Sallyport {
  readonly url: string;
  readonly token: string | undefined;
  readonly #options: SallyportOptions;

  constructor(options: SallyportOptions) {
    this.#options = options;
    this.url = new URL(options.url).origin;
    this.token = options.token;
  }

  /** The answer of a route; a refusal or a failure is thrown as a `SallyportError`. */
  async request<Path extends string, S extends Shapes>(
    route: Route<Path, S>,
    ...[parts, options]: RequestArguments<Path, S>
  ): Promise<S['answer']> {
    const { params, query, body } = (parts ?? {}) as WireParts;
    const response = await this.fetch(pathOf(route.path, params) + queryOf(query), {
      method: route.method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...options,
    });
    const text = await response.text();
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw unexpectedAnswer(this.url, 'the answer is not JSON', { status: response.status, cause });
    }
  }

  /** The answer as it is, its body not read yet; one that is no success is thrown. */
  async fetch(path: string, options: FetchOptions = {}): Promise<Response> {
    const { triesMax = triesMaxDefault } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const response = await this.#fetchOnce(path, options);
      if (response.ok) return response;
      const refusal = await refusalOf(this.url, response);
      if (tries >= triesMax || !canRetry(refusal, options)) throw refusal;
      await new Promise((resolve) => setTimeout(resolve, retryPauseMs(response)));
    }
  }

  async #fetchOnce(path: string, { signal, headers, ...options }: FetchOptions): Promise<Response> {
    const { fetch = globalThis.fetch, token, timeoutMs = timeoutMsDefault } = this.#options;
    const late = new AbortController();
    const giveUp = (): void => late.abort(new DOMException('no answer in time', 'TimeoutError'));
    const timer = setTimeout(giveUp, options.timeoutMs ?? timeoutMs);
    try {
      return await fetch(`${this.url}${path}`, {
        ...options,
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
        // A redirect would take the token elsewhere.
        redirect: 'manual',
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw unreachable(this.url, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A socket of this deployment; a ticket lets it in, since a browser can set no header. */
  openSocket(ticket: string, query: Readonly<Record<string, string>>): SocketLike {
    const { WebSocket = globalThis.WebSocket } = this.#options;
    const url = `${this.url.replace(/^http/, 'ws')}/ws${queryOf(query)}`;
    return new WebSocket(url, ['sallyport.v1', `ticket.${ticket}`]);
  }
}

type WireParts = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

const pathOf = (path: string, params: WireParts['params'] = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

const queryOf = (query: WireParts['query'] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === '' ? '' : `?${text.replaceAll('+', '%20')}`;
};

const canRetry = ({ code }: SallyportError, { method = 'GET' }: FetchOptions): boolean =>
  code === 'rate_limited' || (code === 'sandbox_starting' && method !== 'POST');

const retryPauseMs = ({ headers }: Response): number => {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? Math.min(seconds * 1000, pauseMsMax) : pauseMsDefault;
};
