/**
 * The Lambda endpoint: Invoke and InvokeWithResponseStream for the real `@aws-sdk/client-lambda`.
 *
 * Functions are deployed into it after the start, because their environment names the other endpoints.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { type Keys, makeKeys } from '../endpoint/account.ts';
import { AwsError, parseJson, readBody, writePaced } from '../endpoint/http-messages.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import type { Outcome } from './function.ts';
import {
  type FunctionHost,
  type FunctionHostOptions,
  openFunctionHost,
  type RunningFunctionHost,
} from './function-host.ts';

export type LambdaEndpoint = RunningFunctionHost & Endpoint;

type LambdaOptions = Omit<FunctionHostOptions, 'keys'> & { readonly keys?: Keys };

/** The bound for reading a request; the limits of AWS are smaller and are checked per kind of invocation. */
const bodyBytesMax = 8 * 1024 * 1024;
const route = /^\/20[0-9-]+\/functions\/([^/]+)\/(invocations|response-streaming-invocations)$/;

export const start = async ({ keys = makeKeys(), ...options }: LambdaOptions): Promise<LambdaEndpoint> => {
  const host = openFunctionHost({ ...options, keys });
  const server = await listenSigned((request, response) => answer(host, request, response), { keys });
  return {
    ...host,
    ...server,
    stop: async () => {
      await server.stop();
      await host.stop();
    },
  };
};

const answer = async (
  host: FunctionHost,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { pathname } = new URL(`http://lambda${request.url}`);
  const [, reference, operation] = route.exec(pathname) ?? [];
  if (request.method !== 'POST' || reference === undefined) {
    throw new AwsError(404, 'UnknownOperationException', `no operation ${request.method} ${pathname}`);
  }
  const name = decodeURIComponent(reference);
  const payload = await readPayload(request);
  if (operation === 'response-streaming-invocations')
    return await answerStreamed(host, { name, payload }, response);
  if (request.headers['x-amz-invocation-type'] === 'Event')
    return acceptEvent(host, { name, payload }, response);
  return await answerBuffered(host, { name, payload }, response);
};

type Request = { readonly name: string; readonly payload: string };

const readPayload = async (request: IncomingMessage): Promise<string> => {
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) {
    throw new AwsError(413, 'RequestTooLargeException', {
      Type: 'User',
      message: 'request body is too large',
    });
  }
  const payload = body.length === 0 ? '{}' : body.toString();
  if (parseJson(payload) === undefined) {
    throw new AwsError(400, 'InvalidRequestContentException', {
      Type: 'User',
      message: 'Could not parse request body into json',
    });
  }
  return payload;
};

const headersFor = (requestId: string): Record<string, string> => ({
  'x-amzn-requestid': requestId,
  'x-amz-executed-version': '$LATEST',
});

const acceptEvent = (host: FunctionHost, { name, payload }: Request, response: ServerResponse): void => {
  const requestId = randomUUID();
  host.invokeLater(name, payload, requestId);
  response.writeHead(202, headersFor(requestId)).end();
};

const answerBuffered = async (
  host: FunctionHost,
  { name, payload }: Request,
  response: ServerResponse,
): Promise<void> => {
  const requestId = randomUUID();
  const { outcome, payload: result } = await host.invoke(name, payload, { requestId });
  const headers = { ...headersFor(requestId), 'content-type': 'application/json' };
  if (outcome.kind === 'finished') response.writeHead(200, headers).end(result);
  else {
    response.writeHead(200, { ...headers, 'x-amz-function-error': 'Unhandled' });
    response.end(JSON.stringify(outcome.error));
  }
};

const answerStreamed = async (
  host: FunctionHost,
  { name, payload }: Request,
  response: ServerResponse,
): Promise<void> => {
  const begin = (): void => {
    if (response.headersSent) return;
    response.writeHead(200, { ...headersFor(randomUUID()), 'content-type': eventStreamType });
    response.flushHeaders();
  };
  const outcome = await host.invokeStreamed(name, payload, {
    began: begin,
    chunk: (bytes) => writePaced(response, encodeEvent('PayloadChunk', 'application/octet-stream', bytes)),
  });
  begin();
  response.end(
    encodeEvent('InvokeComplete', 'application/json', Buffer.from(JSON.stringify(completion(outcome)))),
  );
};

const completion = (outcome: Outcome): Record<string, string> =>
  outcome.kind === 'finished'
    ? {}
    : { ErrorCode: outcome.error.errorType, ErrorDetails: JSON.stringify(outcome.error) };

export const eventStreamType = 'application/vnd.amazon.eventstream';

const preludeBytes = 12;
const crcBytes = 4;
const stringHeader = 7;

/**
 * Encodes one message of `application/vnd.amazon.eventstream`: a 12-byte prelude with its own CRC, string headers, the
 * payload, and a CRC over all of it (A23).
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
export const encodeEvent = (eventType: string, contentType: string, payload: Uint8Array): Buffer => {
  const headers = Buffer.concat([
    encodeHeader(':message-type', 'event'),
    encodeHeader(':event-type', eventType),
    encodeHeader(':content-type', contentType),
  ]);
  const total = preludeBytes + headers.length + payload.length + crcBytes;
  const message = Buffer.alloc(total);
  message.writeUInt32BE(total, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, preludeBytes);
  message.set(payload, preludeBytes + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, total - crcBytes)), total - crcBytes);
  return message;
};

const encodeHeader = (name: string, value: string): Buffer => {
  const prefix = Buffer.from([
    name.length,
    ...Buffer.from(name),
    stringHeader,
    value.length >> 8,
    value.length & 0xff,
  ]);
  return Buffer.concat([prefix, Buffer.from(value)]);
};
