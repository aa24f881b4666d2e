/**
 * Admits a request only if a caller of this start has signed it, from its head alone.
 *
 * Requests of browsers are refused before their signature is checked: by `Origin`, by `Sec-Fetch-*`, and by a `Host`
 * that is not this endpoint's own address (DNS rebinding). A signature in the query is refused, too: our clients make
 * none, and a page could be led to it. Refusals carry no CORS header, so no preflight passes.
 */
import type { IncomingMessage } from 'node:http';
import type { Keys } from './account.ts';
import { AwsError } from './aws-error.ts';
import { claimBody } from './http-body.ts';
import { isSameSignature, parseAuthorization, signatureOf } from './signature.ts';

export type Guard = {
  readonly keys: Keys;
  /** The only accepted `Host`. */
  readonly host: string;
  /** Epoch milliseconds. */
  readonly now?: () => number;
};

/** The caller that signed a request, and the service it signed for. */
export type Signed = { readonly caller: string; readonly service: string };

/** As on AWS: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html */
const clockSkewMsMax = 5 * 60_000;
const hexHash = /^[0-9a-f]{64}$/;

export const admit = (request: IncomingMessage, { keys, host, now = Date.now }: Guard): Signed => {
  refuseBrowsers(request, host);
  const authorization = parseAuthorization(request.headers.authorization ?? '');
  if (authorization === undefined)
    throw forbidden('MissingAuthenticationTokenException', 'Missing Authentication Token');
  const { accessKeyId, scope, signedHeaders } = authorization;
  const key = keys.find(accessKeyId);
  if (key === undefined)
    throw forbidden('UnrecognizedClientException', 'The security token included in the request is invalid.');
  const dateTime = String(request.headers['x-amz-date'] ?? '');
  refuseOldDate(dateTime, { scopeDate: scope.date, now: now() });
  refuseUnsignedHeaders(request, signedHeaders);
  const payloadHash = String(request.headers['x-amz-content-sha256']);
  const parts = {
    method: request.method ?? '',
    target: request.url ?? '',
    headers: request.headers,
    ...{ signedHeaders, dateTime, payloadHash, scope },
  };
  if (!isSameSignature(authorization.signature, signatureOf(parts, key.secretAccessKey)))
    throw forbidden('SignatureDoesNotMatch', 'The request signature does not match the signature provided.');
  if (hexHash.test(payloadHash)) claimBody(request, payloadHash);
  return { caller: key.caller, service: scope.service };
};

const refuseBrowsers = ({ headers }: IncomingMessage, host: string): void => {
  const isBrowser =
    headers.origin !== undefined || Object.keys(headers).some((name) => name.startsWith('sec-fetch-'));
  if (isBrowser) throw forbidden('AccessDeniedException', 'Requests of browsers are refused.');
  if (headers.host !== host)
    throw forbidden('AccessDeniedException', 'The Host header does not match this endpoint.');
};

const refuseOldDate = (
  dateTime: string,
  { scopeDate, now }: { readonly scopeDate: string; readonly now: number },
): void => {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(dateTime) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const isNear = Math.abs(at - now) <= clockSkewMsMax;
  if (!isNear || !dateTime.startsWith(scopeDate))
    throw forbidden('RequestTimeTooSkewed', 'The signature has expired or its date is in the future.');
};

/** Address, date, body hash and operation must be signed, since they decide about the request. */
const refuseUnsignedHeaders = ({ headers }: IncomingMessage, signed: readonly string[]): void => {
  const required = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (headers['x-amz-content-sha256'] === undefined || !required.every((name) => signed.includes(name)))
    throw forbidden('SignatureDoesNotMatch', 'The signature does not cover the required headers.');
};

const forbidden = (name: string, message: string): AwsError => new AwsError(403, name, { message });
