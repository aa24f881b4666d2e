/**
 * The Lambda proxy event of a REST API, payload format 1.0.
 *
 * `path` and `pathParameters` are as the client encoded them, query values are decoded, as a REST API does
 * (A11, A12).
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { mapRequest, sourceIpOf, urlOf } from './request-maps.ts';

/** A route of the REST API: `/mcp`, or `/api/{proxy+}` with every path under it. */
export type RestRoute = { readonly resource: string; readonly functionName: string };

export type RouteMatch = RestRoute & { readonly pathParameters: { readonly proxy: string } | null };

const greedy = '{proxy+}';
const stage = 'live';

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

export type ProxyEventParts = {
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
