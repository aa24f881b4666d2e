/**
 * The head of a streamed integration response: status and headers as JSON, eight NUL bytes, then the body.
 *
 * A head that does not end within 16 KB, is no JSON or has no status is a fault of the function: 502
 * (A13).
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
import type { OutgoingHttpHeaders } from 'node:http';

type AnswerHead = { readonly status: number; readonly headers: OutgoingHttpHeaders };

export type HeadReader = {
  /** Takes bytes until the head is complete; then answers with the head and the first bytes of the body. */
  readonly read: (
    bytes: Uint8Array,
  ) => { readonly head: AnswerHead; readonly body: Buffer } | 'incomplete' | 'malformed';
};

const delimiter = Buffer.alloc(8);
const headBytesMax = 16 * 1024;
const statusMin = 200;
const statusMax = 599;
/** Headers that belong to one hop; the server sets its own. */
const hopHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer']);

export const openHeadReader = (): HeadReader => {
  let seen = Buffer.alloc(0);
  return {
    read: (bytes) => {
      seen = Buffer.concat([seen, bytes]);
      const end = seen.indexOf(delimiter);
      if (end < 0) return seen.length > headBytesMax ? 'malformed' : 'incomplete';
      const head = parseHead(seen.subarray(0, end).toString());
      return head === undefined ? 'malformed' : { head, body: seen.subarray(end + delimiter.length) };
    },
  };
};

type Metadata = {
  readonly statusCode?: unknown;
  readonly headers?: Readonly<Record<string, unknown>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, unknown>> | null;
  readonly cookies?: unknown;
};

const parseHead = (text: string): AnswerHead | undefined => {
  const metadata = parseJson(text);
  const status = Number(metadata?.statusCode);
  if (metadata === undefined || !Number.isInteger(status) || status < statusMin || status > statusMax)
    return undefined;
  return { status, headers: readHeaders(metadata) };
};

const parseJson = (text: string): Metadata | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

const readHeaders = ({ headers, multiValueHeaders, cookies }: Metadata): OutgoingHttpHeaders => {
  const result: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries({ ...headers, ...multiValueHeaders })) {
    if (hopHeaders.has(name.toLowerCase())) continue;
    result[name.toLowerCase()] = Array.isArray(value) ? value.map(String) : String(value);
  }
  if (Array.isArray(cookies)) result['set-cookie'] = cookies.map(String);
  return result;
};
