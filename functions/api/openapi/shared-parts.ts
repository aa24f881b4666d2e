/**
 * The parts of the document that its operations share: headers of answers, one answer per error status, and the errors that a
 * route may answer with: those of any such request, and those its contract adds.
 */

import { STATUS_CODES } from 'node:http';
import type { ZodOpenApiComponentsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { errorAnswer } from '#shared/contracts/rest/error-view.ts';
import { scopeKinds, scopesFor } from '#shared/domain/access.ts';
import { type ErrorCode, errorRules, isErrorCode } from '#shared/errors.ts';
import { type ApiRoute, refusesFields } from '../api-route.ts';

export type DocumentedRoute = Pick<ApiRoute, 'path' | 'needs' | 'resource' | 'contract'>;

export const documentedErrors = (
  method: string,
  { path, needs, resource, contract }: DocumentedRoute,
): readonly ErrorCode[] => {
  const { query, headers, errors = [] } = contract;
  const isBodyRead = contract.body !== undefined || refusesFields(method, contract);
  const isRefusedToSome = scopesFor(needs).length < scopeKinds.length;
  const named = [`${resource}_not_found`].filter(isErrorCode);
  // A value of the path may be encoded wrongly.
  const isRead = path.includes('{') || query !== undefined || headers !== undefined || isBodyRead;
  return [
    ...(isRead ? ['invalid_request' as const] : []),
    'unauthenticated',
    ...(isRefusedToSome ? ['forbidden' as const] : []),
    ...(path.includes('{') ? [...named, 'not_found' as const] : []),
    ...(isBodyRead ? ['payload_too_large' as const] : []),
    'rate_limited',
    'internal_error',
    ...errors,
  ];
};

/** The codes of one status, in the order of the error table. */
const codesOf = (status: number): readonly ErrorCode[] =>
  (Object.keys(errorRules) as ErrorCode[]).filter((code) => errorRules[code].status === status);

const errorStatuses: readonly number[] = [
  ...new Set(Object.values(errorRules).map(({ status }) => status)),
].sort((one, other) => one - other);

/** `Bad Request` is `BadRequest`. */
export const errorName = (status: number): string => (STATUS_CODES[status] ?? '').replaceAll(/\W/g, '');

export const reference = (kind: 'headers' | 'responses' | 'schemas', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

const requestId = { 'x-request-id': reference('headers', 'RequestId') };

export const answerHeaders = requestId;

const headersOf = (status: number) => ({
  ...requestId,
  ...(status === 401 ? { 'www-authenticate': reference('headers', 'WwwAuthenticate') } : {}),
  ...(status === 429 || status === 503 ? { 'retry-after': reference('headers', 'RetryAfter') } : {}),
});

const errorResponse = (status: number): ZodOpenApiResponseObject => {
  const codes = codesOf(status);
  const described = codes.map((code) => (errorRules[code].retry === 'later' ? `${code} (try later)` : code));
  const code = { type: 'string' as const, enum: [...codes] };
  const error = { type: 'object' as const, properties: { code } };
  const narrowed = { type: 'object' as const, properties: { error } };
  return {
    description: `${STATUS_CODES[status]}: ${described.join(', ')}.`,
    headers: headersOf(status),
    content: { 'application/json': { schema: { allOf: [reference('schemas', 'Error'), narrowed] } } },
  };
};

const text = { type: 'string' as const };

export const components: ZodOpenApiComponentsObject = {
  schemas: { Error: errorAnswer },
  headers: {
    RequestId: { description: 'Id of the request, also found in errors and logs.', schema: text },
    RetryAfter: { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
    WwwAuthenticate: { description: 'Bearer', schema: text },
  },
  responses: Object.fromEntries(errorStatuses.map((status) => [errorName(status), errorResponse(status)])),
  securitySchemes: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A token (sp_ and 64 hexadecimal digits), or a JWT of the OIDC issuer if one is configured. Every operation answers 403 to a JWT without a scope.',
    },
    ticket: {
      type: 'apiKey',
      in: 'query',
      name: 'ticket',
      description: 'Ticket of POST /api/tickets, valid for one use.',
    },
    previewCookie: { type: 'apiKey', in: 'cookie', name: 'sallyport-preview' },
  },
};
