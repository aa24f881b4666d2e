/**
 * The runtime of a function: takes one invocation after the other from Lambda's Runtime API and answers it, until it is ended.
 *
 * Lambda's own runtime for Node.js is part of its image alone. An answer that a handler streams is given whole: the Runtime API streams
 * it in trailers of a request, and the emulator buffers it.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  installStreaming,
  isStreaming,
  openResponseStream,
} from '../../local/lambda/worker/response-stream.ts';

type Handler = (...parameters: unknown[]) => unknown;

// biome-ignore lint/style/noProcessEnv: the one read of this program's environment
const environment = process.env;
const api = `http://${environment['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime`;

const post = async (path: string, body: Uint8Array | string): Promise<void> => {
  const response = await fetch(`${api}/${path}`, { method: 'POST', body });
  await response.arrayBuffer();
};

const describe = (cause: unknown): string => {
  const { name, message, stack = '' } = cause instanceof Error ? cause : new Error(String(cause));
  return JSON.stringify({ errorType: name, errorMessage: message, stackTrace: stack.split('\n').slice(1) });
};

const contextOf = (headers: Headers) => {
  const deadlineAt = Number(headers.get('lambda-runtime-deadline-ms'));
  return {
    awsRequestId: headers.get('lambda-runtime-aws-request-id') ?? '',
    invokedFunctionArn: headers.get('lambda-runtime-invoked-function-arn') ?? '',
    functionName: environment['AWS_LAMBDA_FUNCTION_NAME'],
    functionVersion: environment['AWS_LAMBDA_FUNCTION_VERSION'],
    memoryLimitInMB: environment['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'],
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadlineAt - Date.now()),
  };
};

const answerOf = async (handler: Handler, event: unknown, context: object): Promise<Buffer> => {
  if (!isStreaming(handler)) return Buffer.from(JSON.stringify(await handler(event, context)) ?? 'null');
  const chunks: Uint8Array[] = [];
  const stream = openResponseStream({
    began: () => undefined,
    chunk: (bytes) => {
      chunks.push(bytes);
      stream.consumed(bytes.length);
    },
  });
  await handler(event, stream.writable, context);
  await stream.finish();
  return Buffer.concat(chunks);
};

const load = async (): Promise<Handler> => {
  installStreaming();
  const module = join(process.cwd(), 'index.mjs');
  const { handler } = (await import(pathToFileURL(module).href)) as { readonly handler: Handler };
  return handler;
};

const handler = await load().catch(async (cause: unknown) => {
  await post('init/error', describe(cause));
  throw cause;
});
for (;;) {
  const next = await fetch(`${api}/invocation/next`);
  const event: unknown = await next.json();
  const context = contextOf(next.headers);
  await answerOf(handler, event, context).then(
    (bytes) => post(`invocation/${context.awsRequestId}/response`, bytes),
    (cause: unknown) => post(`invocation/${context.awsRequestId}/error`, describe(cause)),
  );
}
