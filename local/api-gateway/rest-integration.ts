/**
 * The proxy integration of the REST API: invokes a Lambda function for a request and streams its answer back.
 *
 * The answer begins with its head: status and headers as JSON, then eight NUL bytes, then the body. A function that
 * fails before its head, or whose head does not end within 16 KB, is not JSON or has no status, is a failure of the
 * gateway, which answers as the deployment has it answer (`infra/constructs/rest-api.ts`). One that fails later cuts the connection (A13 to A16). When the client disconnects the function runs on: its stream is
 * closed, which AWS does not do (docs/spec/aws.md, "Where the embedded cloud differs from AWS"), and later writes are dropped.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type ErrorCode, errorRules } from '#shared/errors.ts';
import { AwsError, parseJson, readBody, writePaced } from '../endpoint/http-messages.ts';
import type { Outcome } from '../lambda/function.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import { makeProxyEvent, type RouteMatch } from './proxy-event.ts';

/** As data, so that a test waits milliseconds instead of minutes (A14, A15). */
export type RestLimits = {
  readonly requestBytesMax: number;
  readonly idleMsMax: number;
  readonly totalMsMax: number;
  /** As AWS: `WWW-Authenticate` leaves under another name, but for `/mcp`, where CloudFront puts it back. */
  readonly renamesAuthenticate: boolean;
};

const minuteMs = 60_000;

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html */
export const restLimits: RestLimits = {
  requestBytesMax: 10 * 1024 * 1024,
  idleMsMax: 5 * minuteMs,
  totalMsMax: 15 * minuteMs,
  renamesAuthenticate: false,
};

/** With CloudFront before it, which ends an answer that is silent for a minute (`infra/constructs/distribution.ts`). */
export const strictRestLimits: Partial<RestLimits> = { idleMsMax: minuteMs, renamesAuthenticate: true };

const renamed: Readonly<Record<string, string>> = {
  'www-authenticate': 'x-amzn-remapped-www-authenticate',
};

type RestIntegration = {
  readonly functions: FunctionHost;
  readonly route: RouteMatch;
  readonly limits: RestLimits;
};

export const answerFromFunction = async (
  request: IncomingMessage,
  response: ServerResponse,
  { functions, route, limits }: RestIntegration,
): Promise<void> => {
  const requestId = randomUUID();
  response.setHeader('x-amzn-requestid', requestId);
  const body = await readBody(request, limits.requestBytesMax);
  if (body === undefined) return refuse(response, requestId, 'payload_too_large');
  const payload = JSON.stringify(makeProxyEvent({ request, route, body, requestId }));
  const isRenaming = limits.renamesAuthenticate && route.resource !== '/mcp';
  const fail = (): void => refuse(response, requestId, 'internal_error');
  const answer = streamAnswer(response, { limits, fail, names: isRenaming ? renamed : {} });
  try {
    answer.end(await functions.invokeStreamed(route.functionName, payload, answer));
  } catch (cause) {
    answer.stopTimers();
    if (!(cause instanceof AwsError)) throw cause;
    refuse(response, requestId, cause.status === 413 ? 'payload_too_large' : 'internal_error');
  }
  return undefined;
};

/** Refusals of the gateway itself, as the deployment defines them (`infra/constructs/rest-api.ts`). */
const gatewayRefusals = {
  payload_too_large: 'the request is too large',
  internal_error: 'the request failed',
} as const satisfies Partial<Record<ErrorCode, string>>;

const refuse = (response: ServerResponse, requestId: string, code: keyof typeof gatewayRefusals): void => {
  const { status, advice } = errorRules[code];
  const refusal = { code, message: gatewayRefusals[code], suggestions: [advice], recoveryActions: [] };
  if (response.destroyed || response.writableEnded) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    ...{ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
    'x-request-id': requestId,
  });
  response.end(JSON.stringify({ error: { ...refusal, requestId } }));
};

type Answering = {
  readonly limits: RestLimits;
  /** Answers that the request failed, or cuts what has begun. */
  readonly fail: () => void;
  /** Headers that leave under another name. */
  readonly names: Readonly<Record<string, string>>;
};

const streamAnswer = (response: ServerResponse, { limits, fail, names }: Answering) => {
  const reader = openHeadReader();
  let idle: NodeJS.Timeout | undefined;
  const beginSilence = (): void => {
    clearTimeout(idle);
    idle = setTimeout(fail, limits.idleMsMax);
  };
  const total = setTimeout(fail, limits.totalMsMax);
  const abandoned = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abandoned.abort();
  });
  const stopTimers = (): void => {
    clearTimeout(idle);
    clearTimeout(total);
  };
  return {
    stopTimers,
    abandoned: abandoned.signal,
    /** Silence begins here: a cold start of many functions at once is slower on one machine than on AWS. */
    started: beginSilence,
    began: () => undefined,
    chunk: async (bytes: Uint8Array): Promise<void> => {
      if (response.destroyed || response.writableEnded) return;
      beginSilence();
      if (response.headersSent) return await writePaced(response, bytes);
      const read = reader.read(bytes);
      if (read === 'incomplete') return;
      if (read === 'malformed') return fail();
      response.writeHead(read.head.status, withNames(read.head.headers, names));
      response.flushHeaders();
      await writePaced(response, read.body);
    },
    end: (outcome: Outcome): void => {
      stopTimers();
      if (outcome.kind === 'finished' && response.headersSent) response.end();
      else fail();
    },
  };
};

const withNames = (
  headers: OutgoingHttpHeaders,
  names: Readonly<Record<string, string>>,
): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [names[name] ?? name, value]));

type AnswerHead = { readonly status: number; readonly headers: OutgoingHttpHeaders };

type HeadReader = {
  /** Collects bytes until the head is complete, then returns the head and the first bytes of the body. */
  readonly read: (
    bytes: Uint8Array,
  ) => { readonly head: AnswerHead; readonly body: Buffer } | 'incomplete' | 'malformed';
};

const delimiter = Buffer.alloc(8);
const headBytesMax = 16 * 1024;
const statusMin = 200;
const statusMax = 599;
/** Headers of one hop; the server sets its own. */
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
  const metadata = parseJson(text) as Metadata | null | undefined;
  const status = Number(metadata?.statusCode);
  if (!metadata || !Number.isInteger(status) || status < statusMin || status > statusMax) return undefined;
  return { status, headers: readHeaders(metadata) };
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
