/**
 * Forwards one request into a sandbox and streams its answer back, without reading either. A stream of events ends before the
 * function's time is over.
 *
 * Refuses a target outside the sandboxes' range, hop-by-hop headers, and a path, header or body that cannot be sent unchanged.
 */
import { type IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http';
import { Readable } from 'node:stream';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { endInTime, isEventStream } from '#shared/adapters/lambda/timed-stream.ts';
import { type FetchCall, linkHeader } from '#shared/contracts/sandbox-link.ts';
import { isInRange } from '#shared/domain/ip-address.ts';
import { AppError, type ErrorCode, errorBody, errorStatus } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { NotConnected, openRequest } from './request-to-sandbox.ts';

type Carrier = { readonly target: URL; readonly telemetry: Telemetry };

/** Headers of one connection (RFC 9110, section 7.6.1), or made by the connection itself. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** A sandbox can set no cookie and cannot answer in the name of the link. */
const heldBack = new Set([...connectionHeaders, 'set-cookie', linkHeader]);

export const forwardRequest = async (
  call: FetchCall,
  { target, telemetry }: Carrier,
): Promise<StreamedResult> => {
  const fault = findFault(call);
  if (fault !== undefined) return refusal('invalid_request', fault);
  const { method, path, headers, correlationId } = call;
  const startedAt = performance.now();
  try {
    const response = await openRequest({
      target,
      method,
      path,
      headers: { ...headers, ...(correlationId === undefined ? {} : { 'x-correlation-id': correlationId }) },
      body: bytesOf(call),
    });
    telemetry.info('a sandbox answered', {
      event: 'sandbox_answered',
      method,
      // The rest of a path belongs to the user.
      route: path.split(/[/?]/)[1],
      status: response.statusCode,
      answeredMs: Math.round(performance.now() - startedAt),
    });
    return {
      statusCode: response.statusCode ?? 502,
      headers: passOn(response),
      body: bodyOf(response, startedAt),
    };
  } catch (error) {
    telemetry.warn('a sandbox was not reached', { host: target.hostname, error });
    const refused = refusal('sandbox_unavailable', 'the sandbox does not answer');
    return error instanceof NotConnected ? asUnsent(refused) : refused;
  }
};

/** A page may send events for ever, and nothing tells when its viewer has left (A16). */
const bodyOf = (response: IncomingMessage, startedAt: number): StreamedResult['body'] => {
  const body = Readable.toWeb(response) as ReadableStream;
  return isEventStream(response.headers['content-type'])
    ? endInTime(body, { passedMs: performance.now() - startedAt })
    : body;
};

const asUnsent = ({ headers, ...refused }: StreamedResult): StreamedResult => ({
  ...refused,
  headers: { ...headers, [linkHeader]: 'unsent' },
});

const bytesOf = ({ body, isBase64 }: FetchCall): Uint8Array | undefined =>
  body === undefined ? undefined : Buffer.from(body, isBase64 ? 'base64' : 'utf8');

const findFault = ({ path, headers, body = '', isBase64 }: FetchCall): string | undefined => {
  if (!/^\/[\x21-\x7e]*$/.test(path)) return 'the path does not start with / or is not encoded';
  const held = Object.keys(headers).find((name) => connectionHeaders.has(name.toLowerCase()));
  if (held !== undefined) return `the header ${held.toLowerCase()} belongs to one connection`;
  if (isBase64 && !isBase64Text(body)) return 'the body is not base64';
  return Object.entries(headers).every(isSendable) ? undefined : 'a header cannot be sent';
};

/** `Buffer` skips invalid characters, and a body with holes would arrive. */
const isBase64Text = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const isSendable = ([name, value]: readonly [string, string]): boolean => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
};

const passOn = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || heldBack.has(name) ? [] : [[name, String(value)]],
    ),
  );

type TargetCheck = { readonly range: string; readonly telemetry: Telemetry };

/** The refusal of a target that nothing may be sent to, or undefined. */
export const refuseTarget = (target: URL, { range, telemetry }: TargetCheck): StreamedResult | undefined => {
  if (!isInRange(target.hostname, range)) {
    telemetry.warn('a target outside the range was refused', { host: target.hostname });
    return refusal('forbidden', 'the address is outside the range of the sandboxes');
  }
  if (target.protocol !== 'http:' || target.href !== `${target.origin}/`)
    return refusal('invalid_request', 'the address is not http://<address>:<port>');
  return undefined;
};

export const refusal = (code: ErrorCode, message: string): StreamedResult => {
  const error = new AppError(code, message);
  return {
    statusCode: errorStatus(error),
    headers: { 'content-type': 'application/json', [linkHeader]: 'refused' },
    body: JSON.stringify(errorBody(error, '')),
  };
};
