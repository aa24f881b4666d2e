/**
 * Stands before an AWS endpoint, passes everything on as it comes, and tells who asked for what.
 *
 * Who asked is the access key by which the request is signed, which in the strict mode is the function's name. A
 * service that it does not know is refused: what is not recorded would be missing without a trace.
 */
import { request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { listen } from '../endpoint/listen.ts';
import { readBody } from '../endpoint/request-body.ts';
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
const credential = /Credential=([^/]+)\/\d+\/[^/]+\/([^/]+)\/aws4_request/;

export const startRecorder = async (target: string, record: RecordCall): Promise<Recorder> => {
  const { url, stop } = await listen(async (request, response) => {
    const body = await readBody(request, bodyBytesMax);
    if (body === undefined) throw new Error(`a request to ${target} is too long to be recorded`);
    record(callOf(request, body));
    await passOn(new URL(request.url ?? '/', target), { request, body }, response);
  });
  // The stage of a WebSocket API is a part of its address.
  return { url: `${url}${new URL(target).pathname}`.replace(/\/$/, ''), stop };
};

const callOf = (request: IncomingMessage, body: Buffer): RecordedCall => {
  const [, caller = '', service = ''] = credential.exec(request.headers.authorization ?? '') ?? [];
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

const passOn = (
  url: URL,
  { request, body }: { readonly request: IncomingMessage; readonly body: Buffer },
  response: ServerResponse,
): Promise<void> =>
  new Promise((resolve, reject) => {
    // The body was read whole: it goes on with its length.
    const { 'transfer-encoding': _, ...headers } = request.headers;
    const options = { method: request.method, headers: { ...headers, 'content-length': body.length } };
    const onward = forward(url, options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      // A client that went away is no failure of the recorder.
      pipeline(answer, response).then(resolve, () => resolve());
    });
    onward.once('error', reject);
    response.once('close', () => onward.destroy());
    onward.end(body);
  });
