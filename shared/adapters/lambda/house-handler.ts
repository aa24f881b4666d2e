/**
 * What every Lambda handler of ours has around it: structured logs, EMF metrics, one correlation id.
 *
 * A handler file reads its environment, builds its adapters and hands its function to `house.handler`.
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
import type { Telemetry } from '#shared/ports/telemetry.ts';

const namespace = 'Sallyport';

export type House = {
  readonly telemetry: Telemetry;
  /** The id that follows one request through every function's log. */
  readonly follow: (correlationId: string) => void;
  readonly handler: <Event, Result>(
    run: (event: Event, context: Context) => Promise<Result>,
  ) => (event: Event, context: Context) => Promise<Result>;
  /** As `handler`, for one that answers with a stream: the result's `body` is a text or a stream. */
  readonly streamingHandler: <Event>(
    run: (event: Event, context: Context) => Promise<StreamedResult>,
  ) => (event: Event, context: Context) => Promise<unknown>;
};

export type StreamedResult = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | ReadableStream;
};

export const openHouse = (serviceName: string): House => {
  const logger = new Logger({ serviceName });
  const metrics = new Metrics({ namespace, serviceName, logger: quietly(logger) });
  const publish = (): void => {
    metrics.publishStoredMetrics();
  };
  return {
    telemetry: {
      info: (message, fields = {}) => logger.info(message, { ...fields }),
      warn: (message, fields = {}) => logger.warn(message, { ...fields }),
      error: (message, fields = {}) => logger.error(message, { ...fields }),
      count: (metric, value = 1) => metrics.addMetric(metric, MetricUnit.Count, value),
      duration: (metric, milliseconds) => metrics.addMetric(metric, MetricUnit.Milliseconds, milliseconds),
    },
    follow: (correlationId) => logger.setCorrelationId(correlationId),
    handler: (run) =>
      middy()
        .use([injectLambdaContext(logger, { resetKeys: true }), logMetrics(metrics)])
        .handler(run as never) as never,
    streamingHandler: (run) =>
      middy({ executionMode: executionModeStreamifyResponse })
        .use([{ before: () => logger.resetKeys() }, injectLambdaContext(logger), { onError: publish }])
        .handler((async (event: never, context: Context) =>
          untilItsEnd(await run(event, context), publish)) as never) as never,
  };
};

/**
 * What a stream does after its head was given back is part of the invocation: it ends with the stream. Piped as
 * a stream of Node it is cancelled as soon as nobody reads it, a web stream only with its next bytes.
 */
const untilItsEnd = (result: StreamedResult, atEnd: () => void): StreamedResult => {
  if (typeof result.body !== 'string') {
    const ends = new TransformStream({ flush: atEnd, cancel: atEnd });
    const body = Readable.fromWeb(result.body.pipeThrough(ends) as NodeReadableStream);
    return { ...result, body: body as unknown as ReadableStream };
  }
  atEnd();
  return result;
};

/** An invocation without a metric is usual here, and no reason to warn. */
const quietly = (logger: Logger) => ({
  debug: logger.debug.bind(logger),
  info: logger.info.bind(logger),
  warn: () => undefined,
  error: logger.error.bind(logger),
});
