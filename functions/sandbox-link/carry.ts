/**
 * Carries one request into a sandbox and its answer out, streamed, without looking inside.
 *
 * It refuses every target outside the sandboxes' address range, every scheme but http, and headers that
 * are meant for one connection only. Each request opens a connection of its own: one that was kept could
 * lead to a task that is gone, and the silence of a dead address would last for minutes.
 */
import { type IncomingMessage, request, validateHeaderName, validateHeaderValue } from 'node:http';
import { Readable } from 'node:stream';
import type { StreamedResult } from '#shared/adapters/lambda/house-handler.ts';
import type { LinkCall } from '#shared/contracts/link.ts';
import { isInRange } from '#shared/domain/address-range.ts';
import { AppError, type ErrorCode, errorBody, errorStatus } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';

export type Carrier = { readonly range: string; readonly telemetry: Telemetry };

/** A sandbox is one security group away: who does not answer by then is not there. */
const connectMsMax = 3000;
/** A silent connection is asked whether its other end still lives. */
const aliveProbeMs = 5000;

/** Meant for one connection only (RFC 9110, section 7.6.1), or made by the connection itself. */
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
/** Says that the link itself answered: a sandbox cannot say it. */
const refusedHeader = 'x-sallyport-link';
/** What a sandbox says to a browser's cookie jar, or in the link's name, stays behind. */
const heldBack = new Set([...connectionHeaders, 'set-cookie', refusedHeader]);

export const carry = async (call: LinkCall, { range, telemetry }: Carrier): Promise<StreamedResult> => {
  const target = new URL(call.address);
  if (!isInRange(target.hostname, range)) {
    telemetry.warn('a target outside the range was refused', { host: target.hostname });
    return refusal('forbidden', 'the address is outside the range of the sandboxes');
  }
  const fault = findFault(call, target);
  if (fault !== undefined) return refusal('invalid_request', fault);
  try {
    const response = await open(call, target);
    return {
      statusCode: response.statusCode ?? 502,
      headers: passOn(response),
      body: Readable.toWeb(response) as ReadableStream,
    };
  } catch (error) {
    telemetry.warn('a sandbox was not reached', { host: target.hostname, error });
    return refusal('sandbox_unavailable', 'the sandbox does not answer');
  }
};

const findFault = ({ path, headers }: LinkCall, target: URL): string | undefined => {
  if (target.protocol !== 'http:' || target.href !== `${target.origin}/`)
    return 'the address is not http://<address>:<port>';
  if (!/^\/[\x21-\x7e]*$/.test(path)) return 'the path does not start with / or is not encoded';
  const held = Object.keys(headers).find((name) => connectionHeaders.has(name.toLowerCase()));
  if (held !== undefined) return `the header ${held.toLowerCase()} belongs to one connection`;
  return Object.entries(headers).every(isSendable) ? undefined : 'a header cannot be sent';
};

const isSendable = ([name, value]: readonly [string, string]): boolean => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
};

/** Ends with the response's headers; its body breaks as the sandbox breaks. */
const open = (call: LinkCall, target: URL): Promise<IncomingMessage> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, path, headers, body, correlationId } = call;
  const outgoing = request({
    host: target.hostname,
    port: target.port || 80,
    method,
    path,
    agent: false,
    headers: {
      ...headers,
      ...(correlationId === undefined ? {} : { 'x-correlation-id': correlationId }),
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    },
  });
  const giveUp = setTimeout(() => outgoing.destroy(new Error('connecting took too long')), connectMsMax);
  outgoing.once('socket', (socket) => {
    socket.setKeepAlive(true, aliveProbeMs);
    socket.once('connect', () => clearTimeout(giveUp));
  });
  outgoing.once('response', resolve);
  outgoing.once('close', () => clearTimeout(giveUp));
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
};

const passOn = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || heldBack.has(name) ? [] : [[name, String(value)]],
    ),
  );

export const refusal = (code: ErrorCode, message: string): StreamedResult => {
  const error = new AppError(code, message);
  return {
    statusCode: errorStatus(error),
    headers: { 'content-type': 'application/json', [refusedHeader]: 'refused' },
    body: JSON.stringify(errorBody(error, '')),
  };
};
