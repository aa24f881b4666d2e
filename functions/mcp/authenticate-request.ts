/**
 * One request to `/mcp`: refused without authentication, under a name that is not ours, and from a page of another origin;
 * the protocol does the rest. And the metadata of the endpoint, for everyone.
 */

import { localhostAllowedHostnames } from '@modelcontextprotocol/server';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { authenticate } from '#shared/application/access/authenticate.ts';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { throttle } from '#shared/application/access/throttle.ts';
import type { AccessDeps, Deps } from '#shared/application/deps.ts';
import { bearerToken, header } from '#shared/contracts/credentials.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { AppError, errorBody, errorStatus } from '#shared/errors.ts';
import type { McpPorts, McpSettings } from './define-tool.ts';
import { answerMcp, type MakeServer, messagesOf } from './mcp-endpoint.ts';
import { answerWellKnown, challengeOf, isWellKnown, type ResourceSettings } from './resource-metadata.ts';

export type McpAuthPorts = AccessDeps & Deps<'telemetry' | 'rateLimiter'>;

type McpEndpoint = {
  readonly makeServer: MakeServer;
  readonly settings: McpSettings;
  /** Called only once a client is authenticated. */
  readonly open: () => Promise<McpPorts>;
  readonly resource: ResourceSettings;
  /** When the function ends, epoch milliseconds. */
  readonly deadlineAt: number;
};

export const answer = async (
  auth: McpAuthPorts,
  event: APIGatewayProxyEvent,
  { makeServer, settings, open, resource, deadlineAt }: McpEndpoint,
): Promise<StreamedResult> => {
  const { requestId } = event.requestContext;
  try {
    if (isWellKnown(event)) return named(answerWellKnown(event, resource), requestId);
    refuseForeign(event, resource);
    const principal = await authenticate(auth, { token: bearerToken(event.headers), isMcp: true });
    await throttleMessages(auth, principal, { event, settings });
    const context = { ports: await open(), settings, principal, deadlineAt };
    return named(toResult(await answerMcp(toRequest(event), makeServer, context)), requestId);
  } catch (error) {
    recordRefusal(auth.telemetry, error);
    return named(failure(error, requestId, challengeOf(event, resource)), requestId);
  }
};

/** A refusal of the protocol can carry the id only here (AC4). */
const named = ({ headers, ...answer }: StreamedResult, requestId: string): StreamedResult => ({
  ...answer,
  headers: { ...headers, 'x-request-id': requestId },
});

type Rated = { readonly event: APIGatewayProxyEvent; readonly settings: McpSettings };

/** Clients of 2025-03-26 may send several messages in one request: each counts in the rate of its token (AC8). */
const throttleMessages = async (
  auth: McpAuthPorts,
  principal: Principal,
  { event, settings }: Rated,
): Promise<void> => {
  // As the protocol decodes it: without a mark of the byte order.
  const text = new TextDecoder().decode(bytesOf(event));
  const messages = text.trimStart().startsWith('[') ? messagesOf(text).length : 1;
  if (messages <= 1) return throttle(auth, principal);
  const { burst } = settings.limits.rate;
  // More than the bucket holds could never be admitted: the refusal counts as one.
  await throttle(auth, principal, messages > burst ? 1 : messages);
  if (messages > burst)
    throw new AppError('invalid_request', `a request has at most ${burst} messages`, {
      suggestions: ['Send them in several requests.'],
    });
};

/** Every method but POST is refused alike, and a `Request` could not carry each of them. */
const toRequest = (event: APIGatewayProxyEvent): Request => {
  const isPost = event.httpMethod === 'POST';
  const headers = Object.entries(event.headers).flatMap(([name, value]): [string, string][] =>
    value !== undefined && protocolHeader.test(name) ? [[name, value]] : [],
  );
  const body = bytesOf(event);
  return new Request(endpoint, { method: isPost ? 'POST' : 'GET', headers, ...(isPost ? { body } : {}) });
};

const bytesOf = ({ body, isBase64Encoded }: APIGatewayProxyEvent): Buffer<ArrayBuffer> =>
  Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');

/** The protocol does not read it. */
const endpoint = 'http://sallyport/mcp';
const protocolHeader = /^(accept|content-type|mcp-[a-z0-9-]+)$/i;

const toResult = ({ status, headers, body }: Response): StreamedResult => {
  const { connection: _, ...kept } = Object.fromEntries(headers);
  return { statusCode: status, headers: kept, body: body ?? '' };
};

const failure = (error: unknown, requestId: string, challenge: string): StreamedResult => {
  const statusCode = errorStatus(error);
  return {
    statusCode,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(statusCode === 401 ? { 'www-authenticate': challenge } : {}),
      ...(statusCode === 429 || statusCode === 503 ? { 'retry-after': '1' } : {}),
    },
    body: JSON.stringify(errorBody(error, requestId)),
  };
};

/**
 * Sent to one of our names, and by no page of another origin. A page that had its own name resolve to this machine (DNS
 * rebinding) sends that name as `Host`, and a browser sends a page's origin as `Origin`. Our names are the one under which
 * the gateway was reached, that of the public address, and this machine's own; a program sends no `Origin`.
 * `X-Forwarded-Host` does not count: such a page can send it as well.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http ("Security")
 */
const refuseForeign = (
  { headers, requestContext }: APIGatewayProxyEvent,
  { publicUrl }: ResourceSettings,
): void => {
  const { domainName } = requestContext;
  const configured = [domainName, publicUrl && hostnameOf(publicUrl)].filter((name) => name !== undefined);
  const own = [...localhostAllowedHostnames(), ...configured];
  const host = header(headers, 'host');
  if (host !== undefined && !own.includes(hostnameOf(`http://${host}`)))
    throw foreign(
      'this server is not known under that name',
      'Use the address of the deployment. An operator can name another with PUBLIC_URL.',
    );
  const origin = header(headers, 'origin');
  if (origin !== undefined && !own.includes(hostnameOf(origin)))
    throw foreign(
      'pages of another origin are not served',
      'Connect from a program, or from a page of the deployment itself.',
    );
};

/** Empty for text that is no URL, as the `null` of a sandboxed page. */
const hostnameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

const foreign = (message: string, suggestion: string): AppError =>
  new AppError('forbidden', message, { suggestions: [suggestion] });
