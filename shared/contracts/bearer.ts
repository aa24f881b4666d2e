/** The positions of a client's credentials: a header, a query field, or a WebSocket subprotocol. */
type Headers = Readonly<Record<string, string | undefined>> | null;

export const socketSubprotocol = 'sallyport.v1';
const ticketPrefix = 'ticket.';

export const header = (headers: Headers, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];

export const bearerToken = (headers: Headers): string | undefined =>
  /^Bearer +(\S+)$/i.exec(header(headers, 'authorization') ?? '')?.[1];

export const offeredSubprotocols = (headers: Headers): readonly string[] =>
  (header(headers, 'sec-websocket-protocol') ?? '').split(',').map((protocol) => protocol.trim());

export const ticketOf = (headers: Headers, query: Headers): string | undefined =>
  query?.['ticket'] ??
  offeredSubprotocols(headers)
    .find((protocol) => protocol.startsWith(ticketPrefix))
    ?.slice(ticketPrefix.length);
