/**
 * Signature Version 4 of AWS: the canonical form of a request, and the signature over it.
 *
 * Pure but for a small cache of signing keys, which are valid for a day. The signature covers the payload's hash, which
 * the caller names, so it is computed and checked without the body.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Credentials } from './account.ts';

type Scope = { readonly date: string; readonly region: string; readonly service: string };

export type SignedParts = {
  readonly method: string;
  /** The request target as sent: path and query. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly signedHeaders: readonly string[];
  /** `YYYYMMDDTHHMMSSZ` */
  readonly dateTime: string;
  readonly payloadHash: string;
  readonly scope: Scope;
};

const algorithm = 'AWS4-HMAC-SHA256';
const cachedKeysMax = 200;

export const signatureOf = (parts: SignedParts, secretAccessKey: string): string => {
  const { date, region, service } = parts.scope;
  const text = [
    algorithm,
    parts.dateTime,
    `${date}/${region}/${service}/aws4_request`,
    sha256(canonicalRequest(parts)),
  ].join('\n');
  return createHmac('sha256', signingKey(parts.scope, secretAccessKey)).update(text).digest('hex');
};

export const isSameSignature = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

type Authorization = {
  readonly accessKeyId: string;
  readonly scope: Scope;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
};

const authorizationHeader =
  /^AWS4-HMAC-SHA256 +Credential=([^/, ]+)\/(\d{8})\/([^/, ]+)\/([^/, ]+)\/aws4_request, *SignedHeaders=([a-z0-9;_-]+), *Signature=([0-9a-f]{64})$/;

/** Undefined for a header that is no signature of this version. */
export const parseAuthorization = (header: string): Authorization | undefined => {
  const [, accessKeyId, date, region, service, names, signature] = authorizationHeader.exec(header) ?? [];
  if (!(accessKeyId && date && region && service && names && signature)) return undefined;
  return { accessKeyId, scope: { date, region, service }, signedHeaders: names.split(';'), signature };
};

type ToSign = {
  readonly method: string;
  readonly target: string;
  /** The headers to send, `host` and `x-amz-content-sha256` among them; an older signature is replaced. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly service: string;
  readonly region: string;
};

/** Returns the given headers with a date and a signature. */
export const sign = (
  { method, target, headers, service, region }: ToSign,
  { accessKeyId, secretAccessKey }: Credentials,
  now = Date.now(),
): Record<string, string | readonly string[] | undefined> => {
  const dateTime = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const sent = { ...headers, 'x-amz-date': dateTime };
  const signedHeaders = Object.keys(sent)
    .filter((name) => name === 'host' || name.startsWith('x-amz-'))
    .sort();
  const scope = { date: dateTime.slice(0, 8), region, service };
  const payloadHash = String(headers['x-amz-content-sha256'] ?? emptyHash);
  const parts = { method, target, headers: sent, signedHeaders, dateTime, payloadHash, scope };
  const credential = `${accessKeyId}/${scope.date}/${region}/${service}/aws4_request`;
  const signature = signatureOf(parts, secretAccessKey);
  return {
    ...sent,
    authorization: `${algorithm} Credential=${credential}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`,
  };
};

export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

const emptyHash = sha256('');

const canonicalRequest = (parts: SignedParts): string => {
  const { target, signedHeaders, headers } = parts;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return [
    parts.method,
    canonicalPath(path, parts.scope.service),
    mark < 0 ? '' : canonicalQuery(target.slice(mark + 1)),
    ...signedHeaders.map((name) => `${name}:${canonicalValue(headers[name])}`),
    '',
    signedHeaders.join(';'),
    parts.payloadHash,
  ].join('\n');
};

/** Every service but S3 normalises the path and encodes it once more. */
const canonicalPath = (path: string, service: string): string => {
  if (service === 's3') return path;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  const end = path.endsWith('/') && segments.length > 0 ? '/' : '';
  return `/${segments.map(percentEncode).join('/')}${end}`;
};

const canonicalQuery = (query: string): string =>
  query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return `${percentEncode(percentDecode(name))}=${percentEncode(percentDecode(value))}`;
    })
    .sort()
    .join('&');

const canonicalValue = (value: string | readonly string[] | undefined): string =>
  (typeof value === 'string' ? value : (value ?? []).join(',')).trim().replace(/\s+/g, ' ');

const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** A badly encoded part is signed unchanged; our clients send none. */
const percentDecode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const signingKeys = new Map<string, Buffer>();

const signingKey = ({ date, region, service }: Scope, secretAccessKey: string): Buffer => {
  const name = `${secretAccessKey}/${date}/${region}/${service}`;
  const cached = signingKeys.get(name);
  if (cached !== undefined) return cached;
  const key = [date, region, service, 'aws4_request'].reduce(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  if (signingKeys.size >= cachedKeysMax) signingKeys.clear();
  signingKeys.set(name, key);
  return key;
};

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
