/**
 * The global `awslambda` of the Node.js runtime: how a handler says that it streams.
 *
 * The AWS SDK and Powertools make a global of the same name, so this adds to what is there.
 * https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/tree/main/src
 */
import { startHttpAnswer } from './response-stream.ts';

const streamingMark = Symbol.for('aws.lambda.runtime.handler.streaming');

type Marked = { [streamingMark]?: 'response' };

export const isStreaming = (handler: unknown): boolean =>
  typeof handler === 'function' && (handler as Marked)[streamingMark] === 'response';

export const installStreaming = (): void => {
  const scope = globalThis as unknown as { awslambda?: Record<string, unknown> };
  scope.awslambda = Object.assign(scope.awslambda ?? {}, {
    streamifyResponse: <H>(handler: H): H => {
      (handler as Marked)[streamingMark] = 'response';
      return handler;
    },
    HttpResponseStream: { from: startHttpAnswer },
  });
};
