/**
 * One REST request, carried to a Lambda function and its answer streamed back.
 *
 * A client that goes away does not stop the function: its stream is closed, which AWS does not do
 * (docs/spec/aws.md, "Where the embedded cloud is not AWS"), and what it still writes is dropped. A function that
 * fails before its head is 502; one that fails later can only be told by cutting the connection (A13 to A16).
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError } from '../endpoint/aws-error.ts';
import { writePaced } from '../endpoint/paced-write.ts';
import { readBody } from '../endpoint/request-body.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import type { Outcome } from '../lambda/invocation.ts';
import { openHeadReader } from './answer-metadata.ts';
import type { RestLimits } from './limits.ts';
import { makeProxyEvent, type RouteMatch } from './proxy-event.ts';

export type RestIntegration = {
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
  if (body === undefined) return refuseTooLarge(response, requestId);
  const payload = JSON.stringify(makeProxyEvent({ request, route, body, requestId }));
  const answer = streamAnswer(response, limits);
  try {
    answer.end(await functions.invokeStreamed(route.functionName, payload, answer));
  } catch (cause) {
    answer.stopClocks();
    if (!(cause instanceof AwsError)) throw cause;
    if (cause.status === 413) refuseTooLarge(response, requestId);
    else refuse(response, 502, 'Internal server error');
  }
  return undefined;
};

/** As the deployment's API says it: its gateway response for this case is ours (`infra/constructs/api-refusals.ts`). */
const refuseTooLarge = (response: ServerResponse, requestId: string): void => {
  const refusal = { code: 'payload_too_large', message: 'the request is too large' };
  answerRefusal(response, 413, { error: { ...refusal, suggestions: [], recoveryActions: [], requestId } });
};

const refuse = (response: ServerResponse, status: number, message: string): void =>
  answerRefusal(response, status, { message });

const answerRefusal = (response: ServerResponse, status: number, body: object): void => {
  if (response.destroyed || response.writableEnded) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const streamAnswer = (response: ServerResponse, limits: RestLimits) => {
  const reader = openHeadReader();
  const giveUp = (): void => refuse(response, 504, 'Endpoint request timed out');
  const idle = setTimeout(giveUp, limits.idleMsMax);
  const total = setTimeout(giveUp, limits.totalMsMax);
  const abandoned = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abandoned.abort();
  });
  const stopClocks = (): void => {
    clearTimeout(idle);
    clearTimeout(total);
  };
  return {
    stopClocks,
    abandoned: abandoned.signal,
    began: () => undefined,
    chunk: async (bytes: Uint8Array): Promise<void> => {
      if (response.destroyed || response.writableEnded) return;
      idle.refresh();
      if (response.headersSent) return await writePaced(response, bytes);
      const read = reader.read(bytes);
      if (read === 'incomplete') return;
      if (read === 'malformed') return refuse(response, 502, 'Internal server error');
      response.writeHead(read.head.status, read.head.headers);
      response.flushHeaders();
      await writePaced(response, read.body);
    },
    end: (outcome: Outcome): void => {
      stopClocks();
      if (outcome.kind === 'finished' && response.headersSent) response.end();
      else refuse(response, 502, 'Internal server error');
    },
  };
};
