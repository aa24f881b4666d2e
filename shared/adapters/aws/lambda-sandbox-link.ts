/**
 * `SandboxLink` over a streamed Lambda invocation of the link function.
 *
 * The stream has API Gateway's format: metadata as JSON, eight NUL bytes, then the body
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html). A stream that breaks in
 * its middle breaks the body: it never ends as if it were whole.
 */
import {
  InvokeWithResponseStreamCommand,
  type InvokeWithResponseStreamResponseEvent,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import type { PlatformCall } from '#shared/contracts/relay/platform-call.ts';
import { type FetchCall, type LinkCall, linkHeader } from '#shared/contracts/sandbox-link.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { AppError, isAppError, UnsentError } from '#shared/errors.ts';
import type { LinkRequest, SandboxLink } from '#shared/ports/sandbox.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';

export type LinkSettings = {
  readonly client: LambdaClient;
  readonly functionName: string;
  readonly bearer: (workspaceId: WorkspaceId, generation: number) => string;
  readonly correlation: Pick<Correlation, 'id'>;
};

/** An answer of the link itself. Below 500 the call was at fault: the sandbox was not asked. */
export class LinkRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the link refused: ${status}`);
    this.status = status;
  }
}

type Events = AsyncIterable<InvokeWithResponseStreamResponseEvent> | undefined;

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const payloadBytesMax = 6 * 1024 * 1024;
const preludeEnd = Buffer.alloc(8);
const preludeBytesMax = 64 * 1024;
/** Statuses whose answer has no body (https://fetch.spec.whatwg.org/#null-body-status). */
const bodylessStatuses = [204, 205, 304];

export const makeSandboxLink = (settings: LinkSettings): SandboxLink => ({
  fetch: (sandbox, request) => invokeLink(settings, fetchCallOf(settings, sandbox, request), request.signal),
});

/** The link's answer to one call, or that of another function which answers as a stream; throws `sandbox_unavailable` when it or the sandbox cannot be reached. */
export const invokeLink = async (
  { client, functionName }: Pick<LinkSettings, 'client' | 'functionName'>,
  call: LinkCall | PlatformCall,
  signal?: AbortSignal,
): Promise<Response> => {
  const ended = new AbortController();
  try {
    const payload = JSON.stringify(call);
    refuseTooLarge(payload);
    const signals = signal === undefined ? [] : [signal];
    const { EventStream: events, $metadata } = await client.send(
      new InvokeWithResponseStreamCommand({ FunctionName: functionName, Payload: payload }),
      { abortSignal: AbortSignal.any([ended.signal, ...signals]) },
    );
    return await respond(payloads(events), { stop: () => ended.abort(), isFirst: $metadata.attempts === 1 });
  } catch (cause) {
    signal?.throwIfAborted();
    ended.abort();
    throw isAppError(cause) ? cause : unreachable(cause);
  }
};

export const unreachable = (cause: unknown): AppError =>
  new AppError('sandbox_unavailable', 'the sandbox could not be reached', { cause });

const refuseTooLarge = (payload: string): void => {
  if (Buffer.byteLength(payload) <= payloadBytesMax) return;
  throw new AppError('payload_too_large', 'the request is too large for a sandbox: at most 6 MB as JSON');
};

const fetchCallOf = (settings: LinkSettings, sandbox: LiveSandbox, request: LinkRequest): FetchCall => {
  const { bearer, correlation } = settings;
  const { address, workspaceId, generation } = sandbox;
  const { method, path, headers = {}, body } = request;
  return {
    kind: 'fetch',
    address,
    method: method as FetchCall['method'],
    path,
    headers: { ...headers, authorization: `Bearer ${bearer(workspaceId, generation)}` },
    ...bodyFields(body),
    correlationId: correlation.id(),
  };
};

const bodyFields = (body: string | Uint8Array | undefined): Pick<FetchCall, 'body' | 'isBase64'> => {
  if (body === undefined) return {};
  if (typeof body === 'string') return { body };
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return { body: bytes.toString('base64'), isBase64: true };
};

/** Read to its very end, so that the connection to Lambda can be reused. */
async function* payloads(events: Events): AsyncGenerator<Uint8Array> {
  let isComplete = false;
  for await (const { PayloadChunk, InvokeComplete } of events ?? []) {
    if (PayloadChunk?.Payload !== undefined) yield PayloadChunk.Payload;
    if (InvokeComplete?.ErrorCode !== undefined) throw brokeOff(InvokeComplete.ErrorCode);
    isComplete ||= InvokeComplete !== undefined;
  }
  if (!isComplete) throw brokeOff('it did not say that it is complete');
}

/** Read by the caller of an execution, beside what it had printed: a sandbox that dies ends its link like this. */
const brokeOff = (cause: string): Error => new Error('the connection to the sandbox broke', { cause });

type Answering = {
  readonly stop: () => void;
  /** No earlier attempt may have sent the request. */
  readonly isFirst: boolean;
};

const respond = async (
  chunks: AsyncGenerator<Uint8Array>,
  { stop, isFirst }: Answering,
): Promise<Response> => {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await chunks.next();
    if (done) throw new Error('the link ended before its answer began');
    head = Buffer.concat([head, value]);
    const end = head.indexOf(preludeEnd);
    if (end >= 0) {
      const first = head.subarray(end + preludeEnd.length);
      return responseOf(head.subarray(0, end), { body: bodyOf({ first, rest: chunks, stop }), isFirst });
    }
    if (head.length > preludeBytesMax) throw new Error('the link answered without a prelude');
  }
};

type Answered = { readonly body: ReadableStream<Uint8Array>; readonly isFirst: boolean };

const responseOf = (prelude: Buffer, { body, isFirst }: Answered): Response => {
  const { statusCode: status, headers = {} } = JSON.parse(prelude.toString()) as {
    statusCode: number;
    headers?: Record<string, string>;
  };
  if (headers[linkHeader] === 'unsent' && isFirst) throw new UnsentError('the sandbox could not be reached');
  if (headers[linkHeader] !== undefined) throw new LinkRefusal(status);
  if (!bodylessStatuses.includes(status)) return new Response(body, { status, headers });
  body.cancel().catch(() => undefined);
  return new Response(null, { status, headers });
};

type Body = {
  readonly first: Uint8Array;
  readonly rest: AsyncGenerator<Uint8Array>;
  /** Breaks the invocation off: a generator that waits for its next chunk cannot be returned from. */
  readonly stop: () => void;
};

const bodyOf = ({ first, rest, stop }: Body): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      if (first.length > 0) controller.enqueue(first);
    },
    pull: async (controller) => {
      const { value, done } = await rest.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: stop,
  });
