/** A REST request as the routes need it: who asks, what for, under which id. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod';
import { decode, decodeJson } from '#shared/contracts/decode.ts';
import { requestBodyBytesMax } from '#shared/domain/limits.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { AppError } from '#shared/errors.ts';

export type ApiEvent = APIGatewayProxyEvent & { principal?: Principal };

export const principalOf = ({ principal }: ApiEvent): Principal => {
  if (principal === undefined) throw new Error('a route ran without authentication');
  return principal;
};

export const pathValue = ({ pathParameters }: ApiEvent, name: string): string => pathParameters?.[name] ?? '';

/** As `pathValue`, for a value that may be anything. */
export const decodedPathValue = (event: ApiEvent, name: string): string => {
  try {
    return decodeURIComponent(pathValue(event, name));
  } catch {
    throw new AppError('invalid_request', `${name}: the path is not encoded as a URL asks for`);
  }
};

/** The body as it came. */
export const bytesOf = ({ body, isBase64Encoded }: ApiEvent): Uint8Array =>
  Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');

/** The body by its contract; an absent one is an empty object. */
export const bodyOf = <S extends z.ZodType>(event: ApiEvent, schema: S): z.output<S> => {
  const text = Buffer.from(bytesOf(event)).toString();
  if (Buffer.byteLength(text) > requestBodyBytesMax)
    throw new AppError('payload_too_large', `a request body is at most ${requestBodyBytesMax} bytes`);
  const decoded = text === '' ? decode(schema, {}) : decodeJson(schema, text);
  if (!decoded.ok) throw new AppError('invalid_request', decoded.problem);
  return decoded.value;
};

/** The query by its contract; a field without a value counts as absent. */
export const queryOf = <S extends z.ZodType>(event: ApiEvent, schema: S): z.output<S> => {
  const given = Object.entries(event.queryStringParameters ?? {}).filter(([, value]) => value?.trim());
  const decoded = decode(schema, Object.fromEntries(given));
  if (!decoded.ok) throw new AppError('invalid_request', decoded.problem);
  return decoded.value;
};
