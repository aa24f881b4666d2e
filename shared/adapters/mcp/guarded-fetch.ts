/**
 * `fetch` to servers that users name, for one call: it goes where `checkAddress` allows and nowhere else.
 *
 * A redirect is a new address and is checked like one; to another origin it takes no header that a user
 * registered, and from https it never leads to http. All bodies share one budget of bytes and are taken as they
 * are: a compressed one is refused, since it could grow without end. `close` ends every connection.
 */
import type { LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import type { AppError } from '#shared/errors.ts';
import { checkAddress, type EgressSettings } from '../outbound/checked-address.ts';
import { within } from '../outbound/deadline.ts';
import { makeAgents, type PinnedRequest, sendPinned } from '../outbound/pinned-request.ts';
import { explainFailure, unreachable } from '../outbound/unreachable.ts';
import { boundedBody } from './bounded-body.ts';

export type GuardedFetch = {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** The last failure below MCP, which the client above would reword. */
  readonly fault: () => AppError | undefined;
  readonly close: () => void;
};

const redirectsMax = 3;
const resolveMsMax = 5000;
const redirectStatuses = [301, 302, 303, 307, 308];
/** The headers of a request that another origin may see. */
const harmlessHeaders = ['accept', 'content-type', 'mcp-method', 'mcp-name', 'mcp-protocol-version'];

export const makeGuardedFetch = (settings: EgressSettings, bytesMax: number): GuardedFetch => {
  const agents = makeAgents();
  const closing = new AbortController();
  const budget = { left: bytesMax };
  const addresses = new Map<string, Promise<readonly LookupAddress[]>>();
  let fault: AppError | undefined;

  const note = (error: unknown, isConnected: boolean): AppError => {
    fault = explainFailure(error, isConnected);
    return fault;
  };
  const addressesOf = (url: URL): Promise<readonly LookupAddress[]> => {
    // All that the check depends on: scheme, user name, host and port.
    const key = new URL('/', url).href;
    const checked = addresses.get(key) ?? within({ ms: resolveMsMax }, checkAddress(url, settings));
    addresses.set(key, checked);
    return checked;
  };
  const follow = async (request: Step): Promise<Response> => {
    const pinned = { ...request, addresses: await addressesOf(request.url) };
    // A request that is aborted before it begins would leave its connection open.
    request.signal.throwIfAborted();
    const incoming = await sendPinned(pinned, agents);
    if (!isRedirect(incoming))
      return toResponse(incoming, (body) => boundedBody(body, { budget, explain: (e) => note(e, true) }));
    incoming.destroy();
    return follow(nextStep(request, incoming));
  };

  return {
    fetch: async (url, init = {}) => {
      const step = firstStep(new URL(url), init, closing.signal);
      try {
        return await follow(step);
      } catch (error) {
        // An abort by the caller is no fault.
        throw step.signal.aborted ? error : note(error, true);
      }
    },
    fault: () => fault,
    close: () => {
      closing.abort();
      agents.http.destroy();
      agents.https.destroy();
    },
  };
};

type Step = Omit<PinnedRequest, 'addresses'> & { readonly redirectsLeft: number };

const firstStep = (url: URL, init: RequestInit, closing: AbortSignal): Step => {
  const headers = new Headers(init.headers);
  headers.set('accept-encoding', 'identity');
  return {
    url,
    method: init.method ?? 'GET',
    headers,
    body: typeof init.body === 'string' ? init.body : undefined,
    signal: init.signal ? AbortSignal.any([closing, init.signal]) : closing,
    redirectsLeft: redirectsMax,
  };
};

const isRedirect = ({ statusCode = 0, headers }: IncomingMessage): boolean =>
  redirectStatuses.includes(statusCode) && headers.location !== undefined;

/** The target of a redirect (RFC 9110, section 15.4). */
const nextStep = (step: Step, { statusCode = 0, headers }: IncomingMessage): Step => {
  const url = URL.parse(headers.location ?? '', step.url.href);
  if (url === null) throw unreachable('it redirects to an invalid URL');
  if (step.redirectsLeft === 0) throw unreachable('it redirects too often');
  if (step.url.protocol === 'https:' && url.protocol === 'http:')
    throw unreachable('it redirects from https to http');
  const isOther = url.origin !== step.url.origin;
  const kept = isOther ? pick(step.headers, harmlessHeaders) : step.headers;
  const redirectsLeft = step.redirectsLeft - 1;
  if (statusCode >= 307) return { ...step, url, headers: kept, redirectsLeft };
  const plain = new Headers(kept);
  plain.delete('content-type');
  return { ...step, url, method: 'GET', body: undefined, headers: plain, redirectsLeft };
};

const pick = (headers: Headers, names: readonly string[]): Headers =>
  new Headers([...headers].filter(([name]) => names.includes(name)));

const bodiless = [204, 205, 304];

const toResponse = (
  incoming: IncomingMessage,
  toBody: (incoming: IncomingMessage) => ReadableStream<Uint8Array>,
): Response => {
  const { statusCode: status = 0, headersDistinct, headers } = incoming;
  const isStatus = status >= 200 && status <= 599;
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  if (!isStatus || !isPlain) {
    incoming.destroy();
    throw unreachable(isStatus ? 'its answer is compressed' : `it answered with HTTP ${status}`);
  }
  const lines = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  if (bodiless.includes(status)) incoming.resume();
  return new Response(bodiless.includes(status) ? null : toBody(incoming), { status, headers: lines });
};
