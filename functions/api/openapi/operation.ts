/** One route as an operation of the document: its contract, its permission, and its errors. */
import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { previewPort } from '#shared/contracts/rest/workspace-view.ts';
import { errorRules } from '#shared/errors.ts';
import type { BodyContract, RouteContract } from '../api-route.ts';
import {
  answerHeaders,
  type DocumentedRoute,
  documentedErrors,
  errorName,
  reference,
} from './shared-parts.ts';

/** The router has a name of its own for the rest of a path. */
export const documentedPath = (path: string): string => path.replace('{proxy+}', '{path}');

/** `GET /api/sessions/{id}/events` is `getSessionsByIdEvents`. */
export const operationId = (method: string, path: string): string => {
  const words = documentedPath(path)
    .split('/')
    .slice(2)
    .flatMap((part) => (part.startsWith('{') ? ['by', part.slice(1, -1)] : part.split(/\W/)));
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    '',
  );
};

export const operation = (method: string, route: DocumentedRoute): ZodOpenApiOperationObject => {
  const { path, needs, resource, contract } = route;
  return {
    operationId: operationId(method, path),
    tags: [path.split('/')[2]?.replace(/\W.*/, '') ?? ''],
    summary: contract.summary,
    'x-needs': needs,
    ...(resource === undefined ? {} : { 'x-resource': resource }),
    ...requestParams(path, contract),
    ...(contract.body === undefined ? {} : { requestBody: requestBody(contract.body) }),
    responses: { ...goodAnswers(contract), ...errorAnswers(method, route) },
  };
};

const pathParameters: Readonly<Record<string, z.ZodType>> = {
  id: z.uuid(),
  port: previewPort,
  path: z.string().describe('The rest of the path; its slashes need no encoding.'),
};

const requestParams = (path: string, { query, headers }: RouteContract) => {
  const names = [...documentedPath(path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const shape = Object.fromEntries(names.map((name) => [name, pathParameters[name] ?? z.string()]));
  const params = {
    ...(names.length === 0 ? {} : { path: z.object(shape) }),
    ...(query === undefined ? {} : { query }),
    ...(headers === undefined ? {} : { header: headers }),
  };
  return Object.keys(params).length === 0 ? {} : { requestParams: params };
};

const content = (body: BodyContract | 'events', types: readonly string[] = [typeOf(body)]) =>
  Object.fromEntries(
    types.map((type) => [type, typeof body === 'string' || type !== jsonType ? {} : { schema: body }]),
  );

const jsonType = 'application/json';

const typeOf = (body: BodyContract | 'events'): string => {
  if (body === 'events') return 'text/event-stream';
  return body === 'bytes' ? 'application/octet-stream' : jsonType;
};

/** A body whose every field may be absent may be absent itself. */
const requestBody = (body: BodyContract): ZodOpenApiRequestBodyObject => ({
  required: body !== 'bytes' && !body.safeParse({}).success,
  content: content(body),
});

const goodAnswers = ({ answers, types }: RouteContract): ZodOpenApiResponsesObject =>
  Object.fromEntries(
    Object.entries(answers).map(([status, body]) => [
      status,
      {
        description: STATUS_CODES[status] ?? '',
        headers: answerHeaders,
        ...(body === 'empty' ? {} : { content: content(body, types) }),
      },
    ]),
  );

const errorAnswers = (method: string, route: DocumentedRoute): ZodOpenApiResponsesObject => {
  const statuses = new Set(documentedErrors(method, route).map((code) => errorRules[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => [String(status), reference('responses', errorName(status))]),
  );
};
