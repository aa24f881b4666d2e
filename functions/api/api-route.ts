/**
 * A route of the REST API: its handler, its permission, and its contract, from which the OpenAPI document is made; and a
 * request as routes need it: its caller, its fields, its id.
 */

import { isUtf8 } from 'node:buffer';
import type { Method } from '@middy/http-router';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { type Decoded, decode, decodeJson, unknownFields } from '#shared/contracts/decode.ts';
import { givenQuery } from '#shared/contracts/fields.ts';
import type { Permission } from '#shared/domain/access.ts';
import { canonicalUuid } from '#shared/domain/ids.ts';
import { requestBodyBytesMax } from '#shared/domain/limits.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';

/** `bytes`: any bytes, streamed. */
export type BodyContract = z.ZodType | 'bytes';

export type RouteContract = {
  /** One line, as an imperative. */
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** The request's own headers, besides those of every request. */
  readonly headers?: z.ZodObject;
  readonly body?: BodyContract;
  /** The successful answers, by status; `events`: server-sent events. */
  readonly answers: Readonly<Record<number, BodyContract | 'empty' | 'events'>>;
  /** Media types of the successful answers, if there are others than their contracts'. */
  readonly types?: readonly string[];
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

export type ApiEvent = APIGatewayProxyEvent & { principal?: Principal };

export const principalOf = ({ principal }: ApiEvent): Principal => {
  if (principal === undefined) throw new Error('a route ran without authentication');
  return principal;
};

/** A value of the path, decoded. */
export const pathValue = ({ pathParameters }: ApiEvent, name: string): string => {
  try {
    return decodeURIComponent(pathParameters?.[name] ?? '');
  } catch {
    throw new AppError('invalid_request', `${name}: the path is not valid URL encoding`);
  }
};

/** As `pathValue`, for one of the platform's ids. */
export const pathId = (event: ApiEvent, name: 'id' | 'workspace' | 'snapshotId' = 'id'): string =>
  canonicalUuid(pathValue(event, name));

/** The body's bytes, unparsed. */
export const bytesOf = ({ body, isBase64Encoded }: ApiEvent): Uint8Array =>
  Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');

/** The body, decoded by its contract; an absent one is an empty object. */
export const bodyOf = <S extends z.ZodType>(event: ApiEvent, schema: S): z.output<S> =>
  decoded(decode(schema, knownBody(event, schema)));

/** The fields of a body whose values the caller checks with messages of its own; unknown fields are refused. */
export const fieldsOf = (event: ApiEvent, schema: z.ZodType): Readonly<Record<string, unknown>> => {
  return decoded(decode(z.looseObject({}), knownBody(event, schema)));
};

/**
 * Every reader of bodies ends here: a field that the contract does not know is refused before the values are
 * checked.
 */
export const knownBody = (event: ApiEvent, schema: z.ZodType): unknown => {
  const bytes = bytesOf(event);
  if (bytes.length > requestBodyBytesMax)
    throw new AppError('payload_too_large', `a request body is at most ${requestBodyBytesMax} bytes`);
  if (!isUtf8(bytes)) throw new AppError('invalid_request', 'the body is not UTF-8');
  const text = Buffer.from(bytes).toString();
  const body = text === '' ? {} : decoded(decodeJson(z.unknown(), text));
  const unknown = unknownFields(schema, body);
  if (unknown.length === 0) return body;
  const named = unknown.slice(0, namedFieldsMax).map((path) => cutMiddle(path, namedFieldCharactersMax));
  throw new AppError('invalid_request', named.map((path) => `${path}: there is no such field`).join('; '), {
    suggestions: ['GET /api/openapi.json lists the fields of every body.'],
  });
};

/** Refuses the fields of a request whose route takes no body; content of GET, HEAD and DELETE has no meaning (RFC 9110, 9.3). */
export const refuseFields = (event: ApiEvent, contract: RouteContract): void => {
  if (refusesFields(event.httpMethod, contract)) knownBody(event, z.object({}));
};

export const refusesFields = (method: string, { body }: RouteContract): boolean =>
  body === undefined && ![...readMethods, 'DELETE'].includes(method);

export const readMethods = ['GET', 'HEAD'];

/** Unknown fields that one refusal names, and the characters of each. */
const namedFieldsMax = 5;
const namedFieldCharactersMax = 200;

const decoded = <T>(result: Decoded<T>): T => {
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

/** The query, decoded by its contract; a field without a value counts as absent. */
export const queryOf = <S extends z.ZodType>(event: ApiEvent, schema: S): z.output<S> =>
  decoded(decode(schema, givenQuery(event.queryStringParameters)));
