/**
 * The Lambda proxy event of a REST API, payload format 1.0, and the header and query maps that all events share.
 *
 * `path` and `pathParameters` stay as the client encoded them and query values are decoded, as in a REST API (A11,
 * A12). Headers and query come in two forms: the last value, and all values. Header names keep the client's spelling,
 * so a handler that compares them by case fails here too.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { readPreviewPath } from '#shared/contracts/preview-path.ts';
import { queryHeader } from '#shared/contracts/preview-query.ts';

/** A route of the REST API: `/mcp`, or `/api/{proxy+}` with every path under it. */
export type RestRoute = { readonly resource: string; readonly functionName: string };

export type RouteMatch = RestRoute & { readonly pathParameters: { readonly proxy: string } | null };

const greedy = '{proxy+}';
const stage = 'live';

/** Requests below it are passed on as they are, and may ask for an upgrade. */
export const isPreview = (pathname: string): boolean => readPreviewPath(pathname) !== undefined;

export const matchRoute = (routes: readonly RestRoute[], pathname: string): RouteMatch | undefined => {
  for (const route of routes) {
    if (route.resource === pathname) return { ...route, pathParameters: null };
    const prefix = route.resource.endsWith(greedy) ? route.resource.slice(0, -greedy.length) : undefined;
    if (prefix !== undefined && pathname.startsWith(prefix) && pathname.length > prefix.length) {
      return { ...route, pathParameters: { proxy: pathname.slice(prefix.length) } };
    }
  }
  return undefined;
};

type ProxyEventParts = {
  readonly request: IncomingMessage;
  readonly route: RouteMatch;
  readonly body: Buffer;
  readonly requestId: string;
};

export const makeProxyEvent = ({
  request,
  route,
  body,
  requestId,
}: ProxyEventParts): APIGatewayProxyEvent => {
  const maps = mapRequest(request);
  const path = urlOf(request).pathname;
  const httpMethod = request.method ?? 'GET';
  return {
    resource: route.resource,
    path,
    httpMethod,
    ...(maps as Pick<
      APIGatewayProxyEvent,
      'headers' | 'multiValueHeaders' | 'queryStringParameters' | 'multiValueQueryStringParameters'
    >),
    pathParameters: route.pathParameters,
    stageVariables: null,
    body: body.length === 0 ? null : body.toString('base64'),
    isBase64Encoded: body.length > 0,
    requestContext: requestContext({ request, route, path, httpMethod, requestId }),
  };
};

type ContextParts = Omit<ProxyEventParts, 'body'> & { readonly path: string; readonly httpMethod: string };

const requestContext = (parts: ContextParts): APIGatewayProxyEvent['requestContext'] => {
  const { request, route, path, httpMethod, requestId } = parts;
  return {
    accountId: '000000000000',
    apiId: 'local',
    authorizer: null,
    protocol: 'HTTP/1.1',
    httpMethod,
    path: `/${stage}${path}`,
    stage,
    requestId,
    requestTimeEpoch: Date.now(),
    resourceId: 'local',
    resourcePath: route.resource,
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: sourceIpOf(request),
      user: null,
      userAgent: request.headers['user-agent'] ?? null,
      userArn: null,
    },
  };
};

type RequestMaps = {
  readonly headers: Readonly<Record<string, string>>;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[]>>;
  readonly queryStringParameters: Readonly<Record<string, string>> | null;
  readonly multiValueQueryStringParameters: Readonly<Record<string, readonly string[]>> | null;
};

export const mapRequest = (request: IncomingMessage): RequestMaps => {
  const headers = collect(headerPairs(request));
  const query = collect(new URLSearchParams(urlOf(request).search).entries());
  const hasQuery = Object.keys(query).length > 0;
  return {
    headers: last(headers),
    multiValueHeaders: headers,
    queryStringParameters: hasQuery ? last(query) : null,
    multiValueQueryStringParameters: hasQuery ? query : null,
  };
};

/** The query with its question mark; '' where there is none. */
type Target = { readonly pathname: string; readonly search: string };

/** The start of a target in absolute form, as for a proxy; a server takes the rest of it (RFC 9112, section 3.2.2). */
const authority = /^https?:\/\/[^/?#]*/i;

/**
 * The path and the query of a request target. The path stays as it came: a parser of URLs resolves `..`, and the deletion of a file would
 * be that of its session. `*` becomes `/`.
 */
export const urlOf = ({ url = '/' }: IncomingMessage): Target => {
  const [target = ''] = url.replace(authority, '').split('#');
  const [, path = '', search = ''] = /^([^?]*)(.*)$/s.exec(target) ?? [];
  return { pathname: path.startsWith('/') ? path : '/', search };
};

export const sourceIpOf = (request: IncomingMessage): string => request.socket.remoteAddress ?? '127.0.0.1';

type Multi = Record<string, string[]>;

function* headerPairs(request: IncomingMessage): Generator<[string, string]> {
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]);
    if (name.toLowerCase() !== queryHeader) yield [name, String(rawHeaders[index + 1])];
  }
  const { pathname, search } = urlOf(request);
  // As CloudFront does (`infra/constructs/distribution.ts`).
  if (isPreview(pathname) && search !== '') yield [queryHeader, search];
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
