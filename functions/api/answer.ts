/** Runs the route of one request; what goes wrong becomes the error body of the contract. */
import httpRouter, { type Route } from '@middy/http-router';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { StreamedResult } from '#shared/adapters/lambda/house-handler.ts';
import { type AccessPorts, authenticate } from '#shared/application/authenticate.ts';
import { throttle } from '#shared/application/throttle.ts';
import { bearerToken } from '#shared/contracts/bearer.ts';
import { AppError, errorBody, errorStatus, isAppError } from '#shared/errors.ts';
import type { RateLimiter } from '#shared/ports/rate-limiter.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import type { ApiEvent } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { answerPreview, type Preview, previewTarget } from './preview-routes.ts';

export type Doors = { readonly routes: readonly ApiRoute[]; readonly preview: Preview };

export const answerWith = async (
  ports: AccessPorts & { readonly telemetry: Telemetry; readonly rateLimiter: RateLimiter },
  { event, context }: { readonly event: ApiEvent; readonly context: Context },
  { routes, preview }: Doors,
): Promise<StreamedResult> => {
  try {
    const target = previewTarget(event);
    // A browser's page has no bearer to show: preview tells by itself who asks.
    if (target !== undefined) return await answerPreview(preview, event, target);
    event.principal = await authenticate(ports, { token: bearerToken(event.headers) });
    await throttle(ports, event.principal);
    return await routed(routes)(event, context);
  } catch (error) {
    if (!isAppError(error)) ports.telemetry.error('a request failed', { error, path: event.path });
    return failure(error, event.requestContext.requestId);
  }
};

/** The router passes a result on as it is; its types know only buffered ones. */
const routed = (routes: readonly ApiRoute[]) =>
  httpRouter<ApiEvent, APIGatewayProxyResult>({
    routes: routes as unknown as Route<ApiEvent, APIGatewayProxyResult>[],
    notFoundResponse,
  }) as unknown as (event: ApiEvent, context: Context) => Promise<StreamedResult>;

const notFoundResponse = (): never => {
  throw new AppError('not_found', 'there is no such route');
};

const failure = (error: unknown, requestId: string): StreamedResult => {
  const answer = json(errorStatus(error), errorBody(error, requestId));
  const challenge: Record<string, string> = answer.statusCode === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const retry: Record<string, string> = answer.statusCode === 429 ? { 'retry-after': '1' } : {};
  return { ...answer, headers: { ...answer.headers, ...challenge, ...retry } };
};
