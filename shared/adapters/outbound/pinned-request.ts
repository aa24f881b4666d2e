/**
 * One HTTP request to addresses that were checked, and to no others.
 *
 * The name stays in the Host header, in SNI and in the check of the certificate; the connection is made to the
 * given addresses, so that a second answer of the resolver decides nothing. No redirect is followed, nothing is
 * decompressed, and no proxy of the environment is used.
 */
import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { startInputTimeout } from '../input-timeout.ts';
import { bareHost } from './checked-address.ts';
import { explainFailure, unreachable } from './unreachable.ts';

export type PinnedRequest = {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
};

/** Connections are kept for the requests of one call: a name has one set of addresses for all of them. */
export type Agents = { readonly http: http.Agent; readonly https: https.Agent };

export const makeAgents = (): Agents => ({
  http: new http.Agent({ keepAlive: true }),
  https: new https.Agent({ keepAlive: true }),
});

const connectMsMax = 5000;
const responseHeaderBytesMax = 16_384;

export const sendPinned = (request: PinnedRequest, agents: Agents): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const isTls = request.url.protocol === 'https:';
    const outgoing = isTls
      ? https.request({ ...optionsOf(request), agent: agents.https, rejectUnauthorized: true })
      : http.request({ ...optionsOf(request), agent: agents.http });
    let isConnected = false;
    const stopWaiting = startInputTimeout(connectMsMax, () =>
      outgoing.destroy(unreachable(`no connection to it within ${connectMsMax / 1000} s`)),
    );
    const onConnected = (): void => {
      isConnected = true;
      stopWaiting();
    };
    outgoing.once('socket', (socket) => {
      if (outgoing.reusedSocket) onConnected();
      else socket.once(isTls ? 'secureConnect' : 'connect', onConnected);
    });
    outgoing.once('response', (incoming) => {
      // The body's reader gets the error; an unread response must not end the process.
      incoming.on('error', () => undefined);
      resolve(incoming);
    });
    outgoing.on('error', (error) => reject(explainFailure(error, isConnected)));
    // An unrequested upgrade ends without an error event.
    outgoing.once('close', () => {
      stopWaiting();
      reject(unreachable('it closed the connection', { context: { isConnected } }));
    });
    outgoing.end(request.body);
  });

const optionsOf = ({ url, addresses, method, headers, signal }: PinnedRequest): https.RequestOptions => {
  const host = bareHost(url);
  return {
    host,
    ...(url.port === '' ? {} : { port: url.port }),
    path: `${url.pathname}${url.search}`,
    method,
    headers: Object.fromEntries(headers),
    lookup: pinnedTo(addresses),
    maxHeaderSize: responseHeaderBytesMax,
    // An address has no SNI (RFC 6066); it is checked against the certificate as it is.
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    signal,
  };
};

const pinnedTo =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
