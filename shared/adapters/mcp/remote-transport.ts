/**
 * The transport to one server: Streamable HTTP, or the HTTP+SSE of the protocol's first version.
 *
 * No stream for unrequested messages is opened: one call needs none. The headers a user registered go with every
 * request, except those that the protocol or HTTP itself decides.
 */
import {
  isJSONRPCRequest,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type StreamableHTTPReconnectionOptions,
} from '@modelcontextprotocol/client';
import type { RemoteTarget } from '#shared/ports/mcp-servers.ts';
import { parseUrl } from '../outbound/checked-address.ts';
import { unreachable } from '../outbound/unreachable.ts';
import { WatchedTransport } from './watched-transport.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type RemoteTransport = {
  readonly transport: WatchedTransport;
  /** Tells a server that keeps sessions that this one is over. */
  readonly endSession: () => Promise<void>;
};

/** A stream that names its events is requested again, once, where the server still answers. */
const reconnectionOptions: StreamableHTTPReconnectionOptions = {
  maxRetries: 1,
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
};

export const makeTransport = (target: RemoteTarget, fetch: Fetch): RemoteTransport => {
  const url = parseUrl(target.url);
  const requestInit = { headers: headersOf(target) };
  return target.transport === 'sse'
    ? overEvents(url, { requestInit, fetch })
    : overHttp(url, { requestInit, fetch });
};

type Wire = { readonly requestInit: RequestInit; readonly fetch: Fetch };

const overHttp = (url: URL, { requestInit, fetch }: Wire): RemoteTransport => {
  const inner = new StreamableHTTPClientTransport(url, {
    requestInit,
    redirectPolicy: 'follow',
    reconnectionOptions,
    fetch: async (to, init) => {
      const isListening = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id');
      if (isListening) return new Response(null, { status: 405 });
      const response = await fetch(to, init);
      const id = requestIdOf(init?.body);
      if (id === undefined || isEventStream(response)) return response;
      return whenEnded(response, () => transport.lose(id));
    },
  });
  const transport = new WatchedTransport(inner);
  return { transport, endSession: () => inner.terminateSession() };
};

const overEvents = (url: URL, { requestInit, fetch }: Wire): RemoteTransport => {
  const inner = new SSEClientTransport(url, {
    requestInit,
    redirectPolicy: 'follow',
    fetch: async (to, init) => {
      const response = await fetch(to, init);
      return isEventStream(response) ? whenEnded(response, () => transport.loseAll()) : response;
    },
  });
  const transport = new WatchedTransport(inner);
  return { transport, endSession: async () => undefined };
};

/** The id of a request that waits for an answer. */
const requestIdOf = (body: unknown): string | number | undefined => {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isJSONRPCRequest(message) ? message.id : undefined;
};

const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;

/** Milliseconds for the reader to take the last bytes. */
const readMs = 20;

const whenEnded = (response: Response, onEnd: () => void): Response => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const ended = (): void => void setTimeout(onEnd, readMs);
  if (response.body === null) ended();
  if (response.body === null) return response;
  response.body.pipeTo(writable).then(ended, ended);
  const { status, headers } = response;
  return new Response(readable, { status, headers });
};

/** HTTP decides these, or the protocol does. */
const reservedHeaders =
  /^(host|connection|content-.*|transfer-encoding|keep-alive|te|trailer|upgrade|expect|proxy-.*|accept|accept-encoding|mcp-.*|last-event-id)$/i;

const headersOf = ({ headers }: RemoteTarget): Headers => {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (reservedHeaders.test(name)) continue;
    try {
      kept.set(name, value);
    } catch {
      // The platform's own error would repeat the value, which may be a secret.
      throw unreachable(`its header ${JSON.stringify(name.slice(0, 100))} cannot be sent`);
    }
  }
  return kept;
};
