/**
 * The upgrade of a preview's connection, on one machine: the gateway asks the function which target the connection may reach,
 * and joins the two ends. API Gateway and Lambda cannot carry such a connection.
 */

/** The protocol of the request's context by which the gateway asks; no client can set it. */
export const upgradeProtocol = 'websocket';

/** Headers of the function's answer to the gateway: the server of the sandbox, the path there, its bearer. */
export const tunnelHeaders = {
  address: 'x-sallyport-tunnel-address',
  path: 'x-sallyport-tunnel-path',
  bearer: 'x-sallyport-tunnel-bearer',
} as const;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The headers of a WebSocket handshake, of a request or of its answer (RFC 6455, section 4). */
export const handshakeHeaders = (headers: Headers): Record<string, string> => {
  const named = Object.entries(headers).filter(([name]) => name.startsWith('sec-websocket-'));
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    ...Object.fromEntries(named.map(([name, value]) => [name, String(value)])),
  };
};

export const asksForUpgrade = (headers: Headers): boolean =>
  Object.entries(headers).some(
    ([name, value]) =>
      name.toLowerCase() === 'sec-websocket-key' ||
      (name.toLowerCase() === 'upgrade' && String(value).toLowerCase() === 'websocket'),
  );
