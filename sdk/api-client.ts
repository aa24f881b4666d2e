/**
 * Typed requests of one deployment's REST API, with its token.
 *
 * A request is repeated by the policy of retry.ts. Its answer is read inside of a try: one that breaks off is asked for
 * again, like one that never came.
 */
import { readFacts, refusalOf, SallyportError, unexpectedAnswer, unreachable } from './errors.ts';
import { isLost, pause, retryPauseMs } from './retry.ts';
import {
  type Method,
  pathOf,
  queryOf,
  type Repeat,
  type RequestArguments,
  type RequestOptions,
  type Route,
  type Shapes,
  type WireParts,
} from './route.ts';

export type FetchOptions = RequestOptions & {
  readonly method?: Method | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Blob | Uint8Array<ArrayBuffer>;
};

/** As much of a WebSocket as is used: that of a browser, of Node, or of the package `ws`. */
export type SocketLike = {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
};

export type ClientOptions = {
  /** Of the deployment: its origin counts. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly fetch?: typeof globalThis.fetch;
  /** Null: none is used. */
  readonly WebSocket?: (new (url: string, protocols: string[]) => SocketLike) | null | undefined;
  /** Until an answer begins: a long download is not cut. A sandbox may take two minutes to start. */
  readonly timeoutMs?: number;
  /** Of a request that may be sent again, all tries counted. */
  readonly triesMax?: number;
};

const timeoutMsDefault = 150_000;
const triesMaxDefault = 6;

export class ApiClient {
  readonly url: string;
  readonly token: string | undefined;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
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
    const init: FetchOptions = {
      method: route.method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...options,
    };
    return this.send(pathOf(route.path, params) + queryOf(query), init) as Promise<S['answer']>;
  }

  /** The JSON of an answer, read to its end: a slow one has sent its status before it failed. Undefined for one without a body. */
  send(path: string, options: FetchOptions): Promise<unknown> {
    return this.exchange(path, options, async (response) => {
      const text = await response.text();
      if (text === '') return undefined;
      const answer = this.#parsed(text, response.status);
      const facts = readFacts(answer);
      if (facts?.requestId !== undefined) throw new SallyportError(response.status, facts);
      return answer;
    });
  }

  #parsed(text: string, status: number): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw unexpectedAnswer(this.url, 'the answer is not JSON', { status, cause });
    }
  }

  /** The answer as it is, its body not read yet; one that is no success is thrown, and one that fails after its status is not. */
  fetch(path: string, options: FetchOptions = {}): Promise<Response> {
    return this.exchange(path, options, async (response) => response);
  }

  /** The value that `read` takes from the answer. */
  async exchange<T>(
    path: string,
    options: FetchOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { signal, triesSignal, method = 'GET', repeat = repeatOf(method) } = options;
    const ends = [signal, triesSignal].filter((given) => given !== undefined);
    const { triesMax = this.#options.triesMax ?? triesMaxDefault } = options;
    let mayBeDone = false;
    for (let tries = 1; ; tries += 1) {
      const error = await this.#try(path, options, read);
      if ('value' in error) return error.value;
      // The first one was carried out, and its answer lost.
      if (mayBeDone && method === 'DELETE' && error.status === 404)
        return read(new Response(null, { status: 204 }));
      // A sandbox that cannot be reached may have gone after its work.
      mayBeDone ||= isLost(error) || error.code === 'sandbox_unavailable';
      const pauseMs = retryPauseMs(error, { repeat, tries, triesMax, chance: Math.random() });
      if (pauseMs === undefined) throw error;
      await pause(pauseMs, anyOf(ends));
    }
  }

  async #try<T>(
    path: string,
    options: FetchOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<Tried<T>> {
    const { signal } = options;
    try {
      const response = await this.#send(path, options);
      if (!response.ok) return await refusalOf(this.url, response);
      return { value: await read(response) };
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      return cause instanceof SallyportError ? cause : unreachable(this.url, cause);
    }
  }

  async #send(path: string, { signal, headers, timeoutMs, method, body }: FetchOptions): Promise<Response> {
    const { fetch = globalThis.fetch, token, timeoutMs: timeoutMsOwn = timeoutMsDefault } = this.#options;
    const late = new AbortController();
    const giveUp = (): void => late.abort(new DOMException('no answer in time', 'TimeoutError'));
    const timer = setTimeout(giveUp, timeoutMs ?? timeoutMsOwn);
    try {
      return await fetch(`${this.url}${path}`, {
        ...({ method, body } as RequestInit),
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
        // A redirect would take the token elsewhere.
        redirect: 'manual',
        signal: signal === undefined ? late.signal : anyOf([signal, late.signal]),
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** False where there is none, as in Node before 22: then events are asked for. */
  get hasSockets(): boolean {
    const { WebSocket = globalThis.WebSocket } = this.#options;
    return typeof WebSocket === 'function';
  }

  /** A socket of this deployment; a ticket lets it in, since a browser can set no header. */
  openSocket(ticket: string, query: Readonly<Record<string, string>>): SocketLike {
    const { WebSocket: given } = this.#options;
    const WebSocket = given ?? globalThis.WebSocket;
    const url = `${this.url.replace(/^http/, 'ws')}/ws${queryOf(query)}`;
    return new WebSocket(url, ['sallyport.v1', `ticket.${ticket}`]);
  }
}

type Tried<T> = { readonly value: T } | SallyportError;

const repeatOf = (method: string): Repeat => (method === 'POST' ? 'limited' : 'lost');

/** Node before 20.3 cannot join signals: there a listener stays with each until it ends. */
const anyOf = (signals: readonly AbortSignal[]): AbortSignal => {
  if (typeof AbortSignal.any === 'function') return AbortSignal.any([...signals]);
  const first = new AbortController();
  for (const signal of signals) {
    const end = (): void => first.abort(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true, signal: first.signal });
  }
  return first.signal;
};
