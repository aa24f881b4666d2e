/**
 * Runs the route of one request. A caller who may not use the route is refused here (AC1). Failures become the error body of
 * the contract. Every answer has the id of its request as `x-request-id`; a client's header of that name is ignored (AC4).
 *
 * A route is a method and a path. Another method on a known path is answered like an unknown path, with 404. So is the path of
 * a list or a resource with a slash at its end, because the name after the slash is missing. Clients turn `files/..` into such
 * a path.
 */

import httpRouter, { type Route } from '@middy/http-router';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { requirePermission } from '#shared/application/access/require-permission.ts';
import { throttle } from '#shared/application/access/throttle.ts';
import type { AccessDeps, Deps } from '#shared/application/deps.ts';
import { AppError, errorBody, errorStatus } from '#shared/errors.ts';
import { type ApiEvent, type ApiRoute, json, principalOf } from './api-route.ts';
import { type Auth, answerAuth, isAuth } from './auth-routes.ts';
import { answerLink, isLink, type Links } from './file-link-routes.ts';
import { answerOAuth, isOAuth, type OAuth } from './oauth-routes.ts';
import { refusedPreview } from './preview-refusal.ts';
import { answerPreview, type Preview, previewTarget } from './preview-routes.ts';
import { refuseFields } from './request-body.ts';
import { callerOf } from './request-credentials.ts';

export type Doors = {
  readonly routes: readonly ApiRoute[];
  readonly preview: Preview;
  readonly links: Links;
  readonly auth: Auth;
  readonly oauth: OAuth;
};

export const answerWith = async (
  ports: AccessDeps & Deps<'telemetry' | 'rateLimiter'>,
  { event, context }: { readonly event: ApiEvent; readonly context: Context },
  { routes, preview, links, auth, oauth }: Doors,
): Promise<StreamedResult> => {
  const { requestId } = event.requestContext;
  const target = previewTarget(event);
  try {
    // A browser's page has no bearer: preview authenticates by itself.
    if (target !== undefined) return named(await answerPreview(preview, event, target), requestId);
    if (isLink(event)) return fencedOff(await answerLink(links, event), requestId);
    if (isAuth(event)) return fencedOff(await answerAuth(auth, event), requestId);
    if (isOAuth(event)) return fencedOff(await answerOAuth(oauth, event), requestId);
    event.principal = await callerOf(ports, event, auth.publicUrl);
    await throttle(ports, event.principal);
    return fencedOff(await routed(routes)(event, context), requestId);
  } catch (error) {
    recordRefusal(ports.telemetry, error, { resource: event.resource, method: event.httpMethod });
    const body = errorBody(error, requestId);
    const answer = failure(errorStatus(error), body);
    // A page may read refusals of its own origin like other answers: `retry-after`, for example.
    return fencedOff(target === undefined ? answer : refusedPreview(event, answer, body.error), requestId);
  }
};

const named = ({ headers, ...answer }: StreamedResult, requestId: string): StreamedResult => ({
  ...answer,
  headers: { ...headers, 'x-request-id': requestId },
});

/** A browser that is signed in may be led to any address here: no answer is a page of ours, whatever it holds. */
const fencedOff = ({ headers, ...answer }: StreamedResult, requestId: string): StreamedResult =>
  named({ ...answer, headers: { 'content-security-policy': pageless, ...headers } }, requestId);

const pageless = "sandbox; default-src 'none'; frame-ancestors 'none'";

/** The router passes a result on as it is; its types know only buffered ones. */
const routed = (routes: readonly ApiRoute[]) =>
  httpRouter<ApiEvent, APIGatewayProxyResult>({
    routes: routes.map(guarded) as unknown as Route<ApiEvent, APIGatewayProxyResult>[],
    notFoundResponse,
  }) as unknown as (event: ApiEvent, context: Context) => Promise<StreamedResult>;

/** A list of the deployment, or one thing. */
const endsWithName = /^[^{]*$|\{[^+}]*\}$/;

/** A resource is checked itself: its owner decides between 404 and 403 (resource-route.ts). */
const guarded = ({ method, path, needs, resource, contract, handler }: ApiRoute) => ({
  method,
  path,
  handler: async (event: ApiEvent): Promise<StreamedResult> => {
    if (event.path.endsWith('/') && endsWithName.test(path)) return notFoundResponse();
    if (resource === undefined) {
      requirePermission(principalOf(event), needs);
      refuseFields(event, contract);
    }
    return handler(event);
  },
});

const notFoundResponse = (): never => {
  throw new AppError('not_found', 'there is no such route', {
    suggestions: ['GET /api/openapi.json lists the routes.'],
  });
};

/** Statuses with a `retry-after` (RFC 9110, 10.2.3). */
const comeBack = [429, 503];

const failure = (status: number, body: ReturnType<typeof errorBody>): StreamedResult => {
  const answer = json(status, body);
  const challenge: Record<string, string> = answer.statusCode === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const retry: Record<string, string> = comeBack.includes(answer.statusCode) ? { 'retry-after': '1' } : {};
  return { ...answer, headers: { ...answer.headers, ...challenge, ...retry } };
};
