/**
 * The thread that runs handlers: a Lambda runtime that serves many environments.
 *
 * An environment is one copy of a handler module, identified by a query on its import. The copies of one thread share
 * the modules that the handler imports, which Lambda would not do; the strict mode gives each environment its own
 * thread.
 */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import '../../../functions/bundling/source-positions.ts';
import type { Call, FromWorker, FunctionError, ToWorker, WorkerSettings } from './messages.ts';
import { installStreaming, isStreaming, openResponseStream, type ResponseStream } from './response-stream.ts';

type Handler = (...parameters: unknown[]) => unknown;

const open = new Map<number, ResponseStream>();

const send = (message: FromWorker): void =>
  parentPort?.postMessage(message, message.type === 'chunk' ? [message.bytes.buffer] : []);

const receive = (message: ToWorker): void => {
  switch (message.type) {
    case 'call':
      void serve(message.call);
      return;
    case 'preload':
      void preload(message.entry, message.environment);
      return;
    case 'consumed':
      open.get(message.callId)?.consumed(message.bytes);
      return;
    case 'abandon':
      open.get(message.callId)?.abandon();
      return;
    case 'ping':
      send({ type: 'pong' });
      return;
  }
};

let preloading = 0;

/** A thread is ended without notice: what it has compiled is written as soon as all is loaded. */
const preload = async (entry: string, environment: number | undefined): Promise<void> => {
  preloading += 1;
  await load(entry, environment).catch(logLoadError);
  preloading -= 1;
  if (preloading === 0) flushCompileCache();
};

/** The first call fails with the same error, as on AWS; the log has it sooner. */
const logLoadError = (cause: unknown): void =>
  void process.stderr.write(`${describe(cause).trace?.join('\n')}\n`);

const serve = async (call: Call): Promise<void> => {
  const { callId } = call;
  try {
    const handler = await load(call.entry, call.environment);
    send({ type: 'started', callId });
    const event: unknown = JSON.parse(call.payload);
    if (isStreaming(handler)) await runStreaming(handler, event, call);
    else await runBuffered(handler, event, call);
    send({ type: 'finished', callId });
  } catch (cause) {
    send({ type: 'failed', callId, error: describe(cause) });
  } finally {
    open.delete(callId);
  }
};

const load = async (entry: string, environment: number | undefined): Promise<Handler> => {
  const query = environment === undefined ? '' : `?environment=${environment}`;
  const loaded = (await import(`${pathToFileURL(entry).href}${query}`)) as { handler?: unknown };
  if (typeof loaded.handler !== 'function') throw new HandlerNotFound(entry);
  return loaded.handler as Handler;
};

const runBuffered = async (handler: Handler, event: unknown, call: Call): Promise<void> => {
  const result: unknown = await handler(event, makeContext(call));
  const bytes = new TextEncoder().encode(JSON.stringify(result) ?? 'null');
  send({ type: 'began', callId: call.callId, contentType: 'application/json' });
  send({ type: 'chunk', callId: call.callId, bytes });
};

const runStreaming = async (handler: Handler, event: unknown, call: Call): Promise<void> => {
  const stream = openResponseStream({
    began: (contentType) => send({ type: 'began', callId: call.callId, contentType }),
    chunk: (bytes) => send({ type: 'chunk', callId: call.callId, bytes }),
  });
  open.set(call.callId, stream);
  await handler(event, stream.writable, makeContext(call));
  await stream.finish();
};

class HandlerNotFound extends Error {
  constructor(entry: string) {
    super(`${entry} exports no function called handler`);
    this.name = 'Runtime.HandlerNotFound';
  }
}

const describe = (cause: unknown): FunctionError => {
  if (!(cause instanceof Error)) return { errorType: typeof cause, errorMessage: String(cause), trace: [] };
  return { errorType: cause.name, errorMessage: cause.message, trace: (cause.stack ?? '').split('\n') };
};

/** The context of a handler, without the three callbacks of the type, which Node 24 does not have on AWS either. */
type RuntimeContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

/** https://docs.aws.amazon.com/lambda/latest/dg/nodejs-context.html */
const makeContext = (call: Call): RuntimeContext => {
  const deadlineAt = Date.now() + call.timeoutMs;
  return {
    awsRequestId: call.requestId,
    functionName: call.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: call.functionArn,
    memoryLimitInMB: String(call.memoryMb),
    logGroupName: `/aws/lambda/${call.functionName}`,
    logStreamName: `local/[$LATEST]${call.environment ?? 0}`,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadlineAt - Date.now()),
  };
};

const { compileCache } = workerData as WorkerSettings;
if (compileCache !== undefined) enableCompileCache(compileCache);
installStreaming();
parentPort?.on('message', receive);
