/** A route of the REST API, and the JSON most of them answer with. */
import type { Method } from '@middy/http-router';
import type { StreamedResult } from '#shared/adapters/lambda/house-handler.ts';
import type { ApiEvent } from './api-request.ts';

export type ApiRoute = {
  readonly method: Method;
  readonly path: string;
  readonly handler: (event: ApiEvent) => Promise<StreamedResult>;
};

export const json = (statusCode: number, body: unknown): StreamedResult => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(body),
});
