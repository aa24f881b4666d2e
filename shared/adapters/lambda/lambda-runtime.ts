/**
 * The runtime around every Lambda handler: structured logs, EMF metrics, one correlation id.
 *
 * A handler file reads its environment, builds its adapters and passes its function to `handler`.
 */
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { Context } from 'aws-lambda';
import type { MetricName } from '#shared/domain/metrics.ts';
import type { Correlation, MetricsStore, Telemetry } from '#shared/ports/telemetry.ts';
import { openUsageRecorder } from './usage-recorder.ts';

const namespace = 'Sallyport';

type Unit = (typeof MetricUnit)[keyof typeof MetricUnit];

export type LambdaRuntime = {
  readonly telemetry: Telemetry;
  /** The store of the operator's usage metrics. */
  readonly storeUsageIn: (store: Pick<MetricsStore, 'add'>) => void;
  /** Of the current invocation: an environment has one at a time. */
  readonly correlation: Correlation;
  readonly handler: <Event, Result>(
    run: (event: Event, context: Context) => Promise<Result>,
  ) => (event: Event, context: Context) => Promise<Result>;
  /** As `handler`, for a function that answers with a stream: the result's `body` is a text or a stream. */
  readonly streamingHandler: <Event>(
    run: (event: Event, context: Context) => Promise<StreamedResult>,
  ) => (event: Event, context: Context) => Promise<unknown>;
};

export type StreamedResult = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that an answer has more than once. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly body: string | ReadableStream;
};

/** Metrics have one dimension, the deployment: each further one would be billed as further metrics. */
export const openLambdaRuntime = (functionName: string, deployment: string): LambdaRuntime => {
  const logger = new Logger({ serviceName: functionName });
  const metrics = new Metrics({ namespace, logger: quietly(logger) });
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions({ deployment });
  const history = openUsageRecorder();
  const publish = async (): Promise<void> => {
    await history.flush();
    metrics.publishStoredMetrics();
  };
  let own = '';
  let followed: string | undefined;
  /** An invocation does not inherit the correlation id of the one before. */
  const begin = ({ context }: { readonly context: Context }): void => {
    own = context.awsRequestId;
    followed = undefined;
    logger.resetKeys();
  };
  const add = (metric: MetricName, unit: Unit, value: number): void => {
    // Fields of the line, not dimensions; each publication clears them.
    metrics.addMetadata('service', functionName);
    if (followed !== undefined) metrics.addMetadata('correlation_id', followed);
    metrics.addMetric(metric, unit, value);
  };
  return {
    telemetry: history.listening({
      info: (message, fields = {}) => logger.info(message, { ...fields }),
      warn: (message, fields = {}) => logger.warn(message, { ...fields }),
      error: (message, fields = {}) => logger.error(message, { ...fields }),
      count: (metric, value = 1) => add(metric, MetricUnit.Count, value),
      duration: (metric, milliseconds) => add(metric, MetricUnit.Milliseconds, milliseconds),
    }),
    storeUsageIn: history.keepIn,
    correlation: {
      id: () => followed ?? own,
      follow: (id) => {
        followed = id;
        logger.setCorrelationId(id);
      },
    },
    handler: (run) =>
      middy()
        .use([{ before: begin }, injectLambdaContext(logger), logMetrics(metrics), atEnd(history.flush)])
        .handler(run as never) as never,
    streamingHandler: (run) =>
      middy({ executionMode: executionModeStreamifyResponse })
        .use([{ before: begin }, injectLambdaContext(logger), { onError: publish }])
        .handler((async (event: never, context: Context) =>
          untilItsEnd(typed(await run(event, context)), publish)) as never) as never,
  };
};

/** No client guesses that an answer is of another type than it says. */
const typed = ({ headers, ...answer }: StreamedResult): StreamedResult => ({
  ...answer,
  headers: { 'x-content-type-options': 'nosniff', ...headers },
});

/**
 * Work that a stream does after its head was returned is part of the invocation, which ends with the stream. A
 * Node stream is cancelled as soon as its reader is gone, a web stream only with its next bytes.
 */
const untilItsEnd = async (result: StreamedResult, atEnd: () => Promise<void>): Promise<StreamedResult> => {
  if (typeof result.body !== 'string') {
    const ends = new TransformStream({ flush: atEnd, cancel: atEnd });
    const body = Readable.fromWeb(result.body.pipeThrough(ends) as NodeReadableStream);
    return { ...result, body: body as unknown as ReadableStream };
  }
  await atEnd();
  return result;
};

/** Runs after a success and after a failure. */
const atEnd = (run: () => Promise<void>) => ({ after: run, onError: run });

/** An invocation without a metric is usual here, and no reason to warn. */
const quietly = (logger: Logger) => ({
  debug: logger.debug.bind(logger),
  info: logger.info.bind(logger),
  warn: () => undefined,
  error: logger.error.bind(logger),
});
