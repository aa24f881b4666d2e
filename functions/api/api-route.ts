/** A route of the REST API: what it answers, who may use it, and its contract, of which the OpenAPI document is made. */
import type { Method } from '@middy/http-router';
import type * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import type { Permission } from '#shared/domain/access.ts';
import type { ErrorCode } from '#shared/errors.ts';
import type { ApiEvent } from './api-request.ts';

/** `bytes`: whatever they are, streamed. */
export type BodyContract = z.ZodType | 'bytes';

export type RouteContract = {
  /** One line, as an imperative. */
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** Of the request, besides those that every request has. */
  readonly headers?: z.ZodObject;
  readonly body?: BodyContract;
  /** The answers that are no errors, by status. */
  readonly answers: Readonly<Record<number, BodyContract | 'empty'>>;
  /** What can go wrong besides what can with any such request (`documentedErrors`). */
  readonly errors?: readonly ErrorCode[];
};

export type ApiRoute = {
  readonly method: Method;
  readonly path: string;
  /** Asked before the handler runs, unless it is asked of a resource. */
  readonly needs: Permission;
  /** What the path names: found first, then asked for `needs` (resource-route.ts), so that a stranger's is not found. */
  readonly resource?: 'session' | 'project' | 'schedule' | 'webhook';
  readonly contract: RouteContract;
  readonly handler: (event: ApiEvent) => Promise<StreamedResult>;
};

export const json = (statusCode: number, body: unknown): StreamedResult => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(body),
});
