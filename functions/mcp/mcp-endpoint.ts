/**
 * The MCP endpoint: one request in, one response out, no state between them.
 *
 * The SDK speaks the protocol, in its current version and in earlier ones. It answers as a stream from the start, so that
 * keep-alives and progress flow at once. A client that accepts no stream gets its answer as JSON when it is complete. No
 * function waits for a client that wants to listen, because the server sends no unrequested messages.
 */

import {
  createMcpHandler,
  type McpRequestContext,
  type McpServer,
  type Server,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { cancelRunningCall } from '#shared/application/execution/running-calls.ts';
import { requestBodyBytesMax } from '#shared/domain/limits.ts';
import { countedAs, type Principal } from '#shared/domain/principal.ts';
import type { McpPorts, McpSettings } from './define-tool.ts';
import {
  acceptsStream,
  isListening,
  toJsonResponse,
  toNotListening,
  unreadNewsBytesMax,
  withRefusalStatus,
} from './response-form.ts';

/** The context of one HTTP request to the endpoint. */
export type EndpointContext = {
  readonly ports: McpPorts;
  readonly settings: McpSettings;
  readonly principal: Principal;
  /** When the function ends, epoch milliseconds. */
  readonly deadlineAt: number;
};

/** A fresh server for each request: it knows its caller. */
export type MakeServer = (context: EndpointContext, client: McpRequestContext) => Server | McpServer;

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
      telemetry.warn('an MCP request failed', { reason: message.slice(0, reasonCharactersMax) }),
  });
  const isStream = acceptsStream(request);
  // The older protocol refuses a client that does not accept both forms; this endpoint serves each in its
  // own.
  request.headers.set('accept', 'application/json, text/event-stream');
  const answered = await handler.fetch(request);
  const response = isListening(request)
    ? await toNotListening(answered)
    : await withRefusalStatus(answered, isStream ? unreadNewsBytesMax : 0);
  return isStream ? response : toJsonResponse(response);
};

/** A client has few calls; those it names beyond that go on. */
const cancelledPerRequestMax = 10;
const requestIdCharactersMax = 1000;
const bodyCharactersMax = 64 * 1024;

const cancelled = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string().max(requestIdCharactersMax), z.number()]) }),
});

/**
 * `notifications/cancelled` reaches another function than the call it means: the calls it names are looked up under the
 * client's token before it is answered, since nothing runs after the answer. A client of 2026 closes the stream of its call
 * instead and needs none; one that sends it is served alike.
 */
const cancelNamedCalls = async ({ ports, principal }: EndpointContext, request: Request): Promise<void> => {
  if (request.method !== 'POST') return;
  const ids = cancelledIn(await request.clone().text());
  const credential = countedAs(principal);
  await Promise.all(ids.map((requestId) => cancelRunningCall(ports, { credential, requestId })));
};

export const cancelledIn = (body: string): readonly (string | number)[] => {
  if (body.length > bodyCharactersMax || !body.includes('notifications/cancelled')) return [];
  const ids = messagesOf(body).flatMap((message) => {
    const { data } = cancelled.safeParse(message);
    return data === undefined ? [] : [data.params.requestId];
  });
  return [...new Set(ids)].slice(0, cancelledPerRequestMax);
};

/** Clients of 2025-03-26 may send several in one body. The protocol refuses text that is no JSON. */
export const messagesOf = (body: string): readonly unknown[] => {
  try {
    const parsed: unknown = JSON.parse(body);
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    return [];
  }
};
