/**
 * Stands before an AWS endpoint, passes everything on as it comes, and tells who asked for what.
 *
 * The caller is the one whose key signed the request; in the strict mode that is the function. The request goes on signed
 * anew, since its address is another. An unknown service is refused: its requests would be missing from the record.
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
import type { Signed } from '../endpoint/guard.ts';
import { readBody } from '../endpoint/http-body.ts';
import { listenSigned } from '../endpoint/listen.ts';
import { sign } from '../endpoint/signature.ts';
import type { Authorisation } from './authorisation.ts';
import { services } from './services.ts';

/** One call by a function, and all that AWS would ask its role for. */
export type RecordedCall = {
  readonly caller: string;
  readonly service: string;
  readonly authorisations: readonly Authorisation[];
};

export type RecordCall = (call: RecordedCall) => void;

export type Recorder = { readonly url: string; readonly stop: () => Promise<void> };

const bodyBytesMax = 64 * 1024 * 1024;

export const startRecorder = async (target: string, record: RecordCall, keys: Keys): Promise<Recorder> => {
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    signed: Signed,
  ): Promise<void> => {
    const body = await readBody(request, bodyBytesMax);
    if (body === undefined) throw new Error(`a request to ${target} is too long to be recorded`);
    record(callOf(request, body, signed));
    const { method = 'GET', url = '/' } = request;
    const { hostname, port, host } = new URL(target);
    // The body was read whole: it goes on with its length.
    const { 'transfer-encoding': _, expect: __, ...kept } = request.headers;
    const headers = { ...kept, host, 'content-length': String(body.length) };
    const toSign = { method, target: url, headers, service: signed.service, region };
    const onward = forward({
      ...{ hostname, port, method, path: url },
      headers: sign(toSign, keys.issue('recorder')) as OutgoingHttpHeaders,
    });
    await passOn(onward, body, response);
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

const passOn = (onward: ClientRequest, body: Buffer, response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    onward.once('response', (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      // A client that went away is no failure of the recorder.
      pipeline(answer, response).then(resolve, () => resolve());
    });
    onward.once('error', reject);
    response.once('close', () => onward.destroy());
    onward.end(body);
  });
