/**
 * Headers and query of a request in the two forms of API Gateway's events: the last value, and all values.
 *
 * Header names keep the client's spelling, so a handler that compares them by case fails here too.
 */
import type { IncomingMessage } from 'node:http';

export type RequestMaps = {
  readonly headers: Readonly<Record<string, string>>;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[]>>;
  readonly queryStringParameters: Readonly<Record<string, string>> | null;
  readonly multiValueQueryStringParameters: Readonly<Record<string, readonly string[]>> | null;
};

export const mapRequest = (request: IncomingMessage): RequestMaps => {
  const headers = collect(headerPairs(request));
  const query = collect(urlOf(request).searchParams.entries());
  const hasQuery = Object.keys(query).length > 0;
  return {
    headers: last(headers),
    multiValueHeaders: headers,
    queryStringParameters: hasQuery ? last(query) : null,
    multiValueQueryStringParameters: hasQuery ? query : null,
  };
};

/** Reads only the origin form of a request target; `*` and `http://elsewhere/` become `/`. */
export const urlOf = ({ url = '/' }: IncomingMessage): URL =>
  new URL(`http://origin${url.startsWith('/') ? url : '/'}`);

export const sourceIpOf = (request: IncomingMessage): string => request.socket.remoteAddress ?? '127.0.0.1';

type Multi = Record<string, string[]>;

function* headerPairs(request: IncomingMessage): Generator<[string, string]> {
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    yield [String(rawHeaders[index]), String(rawHeaders[index + 1])];
  }
  yield ['X-Forwarded-For', sourceIpOf(request)];
  yield ['X-Forwarded-Proto', 'http'];
}

/** Without a prototype: a header or parameter may be called `__proto__`. */
const collect = (pairs: Iterable<[string, string]>): Multi => {
  const all: Multi = Object.create(null);
  for (const [name, value] of pairs) all[name] = [...(all[name] ?? []), value];
  return all;
};

const last = (all: Multi): Record<string, string> =>
  Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.at(-1) ?? ''])),
  );
