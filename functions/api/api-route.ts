/** A route of the REST API: its handler, its permission, and its contract, from which the OpenAPI document is made. */
import type { Method } from '@middy/http-router';
import type * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import type { Permission } from '#shared/domain/access.ts';
import type { ErrorCode } from '#shared/errors.ts';
import type { ApiEvent } from './api-request.ts';

/** `bytes`: any bytes, streamed. */
export type BodyContract = z.ZodType | 'bytes';

export type RouteContract = {
  /** One line, as an imperative. */
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** The request's own headers, besides those of every request. */
  readonly headers?: z.ZodObject;
  readonly body?: BodyContract;
  /** The successful answers, by status. */
  readonly answers: Readonly<Record<number, BodyContract | 'empty'>>;
  /** Errors besides those of any such request (`documentedErrors`). */
  readonly errors?: readonly ErrorCode[];
};

export type ApiRoute = {
  readonly method: Method;
  readonly path: string;
  /** Checked before the handler runs, unless it is checked on a resource. */
  readonly needs: Permission;
  /**
   * The resource in the path: found first, then checked for `needs` (resource-route.ts), so that a stranger's is
   * not found.
   */
  readonly resource?: 'session' | 'project' | 'schedule' | 'webhook';
  readonly contract: RouteContract;
  readonly handler: (event: ApiEvent) => Promise<StreamedResult>;
};

export const json = (statusCode: number, body: unknown): StreamedResult => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(body),
});
