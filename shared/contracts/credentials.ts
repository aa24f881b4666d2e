/**
 * The credentials of a client: where they stand in a request (a header, a query field, or a WebSocket subprotocol), and the
 * principal that the authorizer passes to the socket function.
 */
import * as z from 'zod';
import type { Principal } from '#shared/domain/principal.ts';
import { principalRecord } from './stored/access-records.ts';

type Headers = Readonly<Record<string, string | undefined>> | null;

export const socketSubprotocol = 'sallyport.v1';
const ticketPrefix = 'ticket.';

export const header = (headers: Headers, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];

export const bearerToken = (headers: Headers): string | undefined =>
  /^Bearer +(\S+)$/i.exec(header(headers, 'authorization') ?? '')?.[1];

export const offeredSubprotocols = (headers: Headers): readonly string[] =>
  (header(headers, 'sec-websocket-protocol') ?? '').split(',').map((protocol) => protocol.trim());

/** An empty one in the query counts as absent. */
export const ticketOf = (headers: Headers, query: Headers): string | undefined =>
  query?.['ticket'] ||
  offeredSubprotocols(headers)
    .find((protocol) => protocol.startsWith(ticketPrefix))
    ?.slice(ticketPrefix.length);

/**
 * API Gateway passes scalars on, as strings.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html
 */
export const contextPrincipal = z.object({
  ...principalRecord().shape,
  isPerson: z
    .literal('true')
    .transform(() => true as const)
    .exactOptional(),
  expiresAt: z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .exactOptional(),
});

export const toAuthorizerContext = (principal: Principal): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(principal).map(([name, value]) => [name, String(value)]));
