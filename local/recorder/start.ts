/**
 * A proxy in front of an AWS endpoint that records the caller and the authorisations of each request.
 *
 * The signing key identifies the caller; in the strict mode that is the function. The request is signed anew before it is
 * forwarded, since its address changes. An unknown service is refused: its requests would be missing from the record.
 */
import {
  type ClientRequest,
  request as forward,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Keys, region } from '../endpoint/account.ts';
import { readBody } from '../endpoint/http-messages.ts';
import { type Endpoint, listenSigned, type Signed } from '../endpoint/listen.ts';
import { sign } from '../endpoint/signature.ts';
import { type Authorisation, services } from './authorisations.ts';

/** One call of a function, and all authorisations that its role needs. */
export type RecordedCall = {
  readonly caller: string;
  readonly service: string;
  readonly authorisations: readonly Authorisation[];
};

export type RecordCall = (call: RecordedCall) => void;

const bodyBytesMax = 64 * 1024 * 1024;

export const startRecorder = async (
  target: string,
  record: RecordCall,
  keys: Keys,
): Promise<Pick<Endpoint, 'url' | 'stop'>> => {
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    signed: Signed,
  ): Promise<void> => {
    const body = await readBody(request, bodyBytesMax);
    if (body === undefined) throw new Error(`a request to ${target} is too large to be recorded`);
    record(callOf(request, body, signed));
    const { method = 'GET', url = '/' } = request;
    const { hostname, port, host } = new URL(target);
    // The body was read completely and is sent with its length.
    const { 'transfer-encoding': _, expect: __, ...otherHeaders } = request.headers;
    const headers = { ...otherHeaders, host, 'content-length': String(body.length) };
    const toSign = { method, target: url, headers, service: signed.service, region };
    const forwarded = forward({
      ...{ hostname, port, method, path: url },
      headers: sign(toSign, keys.issue('recorder')) as OutgoingHttpHeaders,
    });
    await relay(forwarded, body, response);
  };
  const { url, stop } = await listenSigned(answer, { keys });
  // The stage of a WebSocket API is a part of its address.
  return { url: `${url}${new URL(target).pathname}`.replace(/\/$/, ''), stop };
};

const callOf = (request: IncomingMessage, body: Buffer, { caller, service }: Signed): RecordedCall => {
  const authorisationsOf = services[service];
  if (authorisationsOf === undefined)
    throw new Error(`calls of ${JSON.stringify(service)} cannot be recorded`);
  const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
  const url = new URL(request.url ?? '/', 'http://recorder');
  return {
    caller,
    service,
    authorisations: authorisationsOf({ method: request.method ?? 'GET', url, operation, body }),
  };
};

const relay = (forwarded: ClientRequest, body: Buffer, response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    forwarded.once('response', (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      // A client that disconnects is no failure of the recorder.
      pipeline(answer, response).then(resolve, () => resolve());
    });
    forwarded.once('error', reject);
    response.once('close', () => forwarded.destroy());
    forwarded.end(body);
  });
