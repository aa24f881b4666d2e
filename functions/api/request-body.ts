/** The body of a request to the REST API: its bytes, its values by their contract, and what is refused of it. */
import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { withoutNulls } from '#shared/contracts/absent-fields.ts';
import { decode, decodeJson, unknownFields } from '#shared/contracts/decode.ts';
import { requestBodyBytesMax } from '#shared/domain/limits.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import { AppError } from '#shared/errors.ts';
import { type ApiEvent, decoded, type RouteContract, refusesFields } from './api-route.ts';

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
 * checked, and an optional one that is null is as one that was not sent.
 */
export const knownBody = (event: ApiEvent, schema: z.ZodType): unknown => {
  const bytes = bytesOf(event);
  if (bytes.length > requestBodyBytesMax)
    throw new AppError('payload_too_large', `a request body is at most ${requestBodyBytesMax} bytes`);
  if (!isUtf8(bytes)) throw new AppError('invalid_request', 'the body is not UTF-8');
  const text = Buffer.from(bytes).toString();
  const body = text === '' ? {} : decoded(decodeJson(z.unknown(), text));
  const unknown = unknownFields(schema, body);
  if (unknown.length === 0) return withoutNulls(schema, body);
  const named = unknown.slice(0, namedFieldsMax).map((path) => cutMiddle(path, namedFieldCharactersMax));
  throw new AppError('invalid_request', named.map((path) => `${path}: there is no such field`).join('; '), {
    suggestions: ['GET /api/openapi.json lists the fields of every body.'],
  });
};

/**
 * Refuses what a request says to a route that takes no body: a field, a list, a text. An empty object and `null` say nothing. Content of
 * GET, HEAD and DELETE has no meaning (RFC 9110, 9.3).
 */
export const refuseFields = (event: ApiEvent, contract: RouteContract): void => {
  if (refusesFields(event.httpMethod, contract)) bodyOf(event, z.object({}).nullable());
};

/** Unknown fields that one refusal names, and the characters of each. */
const namedFieldsMax = 5;
const namedFieldCharactersMax = 200;
