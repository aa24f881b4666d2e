/**
 * The MCP endpoint: one request in, one response out, no state between them.
 *
 * The SDK speaks the protocol, of this year and of the years before, and answers as a stream from the start, so
 * that keep-alives and progress flow at once. A client that accepts no stream gets its answer as JSON when it is
 * there. No function stays up for a client that wants to listen: there are no unrequested messages.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { requestBodyBytesMax } from '#shared/domain/limits.ts';
import { cancelNamedCalls } from './cancelled-requests.ts';
import type { EndpointContext, MakeServer } from './endpoint-context.ts';
import { acceptsStream, toJsonResponse } from './json-response.ts';
import { isListening, toNotListening, withRefusalStatus } from './refusal-status.ts';

const keepAliveMs = 10_000;
const reasonCharactersMax = 200;

export const answerMcp = async (
  request: Request,
  makeServer: MakeServer,
  context: EndpointContext,
): Promise<Response> => {
  const { telemetry } = context.ports;
  await cancelNamedCalls(context, request);
  const handler = createMcpHandler((client) => makeServer(context, client), {
    responseMode: 'sse',
    keepAliveMs,
    maxRequestBodySize: requestBodyBytesMax,
    maxSubscriptions: 0,
    onerror: ({ message }) =>
      telemetry.warn('an MCP request went wrong', { reason: message.slice(0, reasonCharactersMax) }),
  });
  const isStream = acceptsStream(request);
  // The older protocol refuses a client that does not accept both forms; this endpoint serves each in its
  // own.
  request.headers.set('accept', 'application/json, text/event-stream');
  const answered = await handler.fetch(request);
  const response = isListening(request) ? await toNotListening(answered) : await withRefusalStatus(answered);
  return isStream ? response : toJsonResponse(response);
};
