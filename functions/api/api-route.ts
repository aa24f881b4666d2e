/**
 * A route of the REST API: its handler, its permission, and its contract, from which the OpenAPI document is made; and a
 * request as routes need it: its caller, its path, its query. Its body: request-body.ts.
 */

import type { Method } from '@middy/http-router';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { type Decoded, decode } from '#shared/contracts/decode.ts';
import { givenQuery } from '#shared/contracts/fields.ts';
import type { Permission } from '#shared/domain/access.ts';
import { canonicalUuid } from '#shared/domain/ids.ts';
import { callIdCharactersMax } from '#shared/domain/limits.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';

/** `bytes`: any bytes, streamed. */
export type BodyContract = z.ZodType | 'bytes';

export type RouteContract = {
  /** One line, as an imperative. */
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** Headers of this route's requests, in addition to those of every request. */
  readonly headers?: z.ZodObject;
  readonly body?: BodyContract;
  /** The successful answers, by status; `events`: server-sent events. */
  readonly answers: Readonly<Record<number, BodyContract | 'empty' | 'events'>>;
  /** Media types of the successful answers, if there are others than their contracts'. */
  readonly types?: readonly string[];
  /** Errors in addition to those of every such request (`documentedErrors`). */
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

export type ApiEvent = APIGatewayProxyEvent & { principal?: Principal };

export const principalOf = ({ principal }: ApiEvent): Principal => {
  if (principal === undefined) throw new Error('a route ran without authentication');
  return principal;
};

/** A value of the path, decoded: no name or id is longer, and no key of the table has room for any text. */
export const pathValue = (event: ApiEvent, name: string): string => {
  const value = decodedValue(event, name);
  if (value.length <= callIdCharactersMax) return value;
  throw new AppError('invalid_request', `${name}: has at most ${callIdCharactersMax} characters`);
};

const decodedValue = ({ pathParameters }: ApiEvent, name: string): string => {
  try {
    return decodeURIComponent(pathParameters?.[name] ?? '');
  } catch {
    throw new AppError('invalid_request', `${name}: the path is not valid URL encoding`);
  }
};

/** As `pathValue`, for one of the platform's ids. */
export const pathId = (event: ApiEvent, name: 'id' | 'workspace' | 'snapshotId' = 'id'): string =>
  canonicalUuid(decodedValue(event, name));

export const refusesFields = (method: string, { body }: RouteContract): boolean =>
  body === undefined && ![...readMethods, 'DELETE'].includes(method);

export const readMethods = ['GET', 'HEAD'];

export const decoded = <T>(result: Decoded<T>): T => {
  if (result.ok) return result.value;
  throw new AppError('invalid_request', result.problem);
};

/**
 * The query, written again: of the client's own, the order of names that repeat and the spelling of escapes are lost, since the gateway
 * gives the decoded values of each name together.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway.html
 */
export const queryText = (query: ApiEvent['multiValueQueryStringParameters']): string =>
  Object.entries(query ?? {})
    .flatMap(([name, values = []]) => values.map((value) => `${escaped(name)}=${escaped(value)}`))
    .join('&');

/** Without `+` for a blank, which is one only to a reader of forms. */
const escaped = (text: string): string => encodeURIComponent(text.toWellFormed());

/**
 * The query, decoded by its contract; a field without a value counts as absent. Of a name that repeats the last value counts, but of one in
 * `lists` each.
 */
export const queryOf = <S extends z.ZodType>(
  event: ApiEvent,
  schema: S,
  lists: readonly string[] = [],
): z.output<S> => {
  const { queryStringParameters: last, multiValueQueryStringParameters: all } = event;
  const repeated = lists.flatMap((name) => {
    const values = (all?.[name] ?? []).filter((value) => value.trim());
    return values.length > 1 ? [[name, values] as const] : [];
  });
  return decoded(decode(schema, { ...givenQuery(last), ...Object.fromEntries(repeated) }));
};
