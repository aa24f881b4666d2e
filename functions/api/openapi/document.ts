/**
 * The OpenAPI document of the REST API, made of the routes and their contracts: it states nothing twice.
 *
 * Refuses to be made when two operations would have one id.
 */
import type { Method } from '@middy/http-router';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverrideContext,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import type { ApiRoute } from '../api-route.ts';
import { authRoutes } from '../auth-routes.ts';
import { linkedRoutes } from '../file-link-routes.ts';
import { previewRoute } from '../preview-routes.ts';
import { type Api, routes } from '../routes.ts';
import { documentedPath, operation } from './operation.ts';
import { components } from './shared-parts.ts';

type Entry = {
  readonly method: string;
  readonly path: string;
  readonly operation: ZodOpenApiOperationObject;
};

/** The methods that a page may answer. */
const previewMethods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The routes without their adapters: their handlers are never called. */
export const declaredRoutes = (): readonly ApiRoute[] =>
  routes({ ports: {}, settings: {}, limits: {}, stats: {} } as unknown as Api);

export const openApiDocument = (version: string) =>
  createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Sallyport',
        version,
        description:
          'Agent sandboxes in your own AWS account. `x-needs` is the permission that a token needs (docs/spec/access.md). In a body, null counts as absent in an optional field, unless the body has fields that null removes.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ bearer: [] }],
      paths: pathsOf([
        ...declaredRoutes().map(entryOf),
        ...previewMethods.map(previewEntry),
        ...openRoutes.map(openEntry),
      ]),
      components,
    },
    { override: plain },
  );

/** Leaves out bounds that only describe a number type, and patterns that only repeat a format. */
const plain = ({ jsonSchema, zodSchema, io }: ZodOpenApiOverrideContext): void => {
  const { def } = zodSchema._zod;
  // A body takes no other fields (api-route.ts).
  if (io === 'input' && def.type === 'object' && def.catchall === undefined)
    jsonSchema.additionalProperties = false;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
};

const entryOf = (route: ApiRoute): Entry => ({
  method: route.method,
  path: route.path,
  operation: operation(route.method, route),
});

const previewEntry = (method: Method): Entry => ({
  method,
  path: previewRoute.path,
  operation: {
    ...operation(method, previewRoute),
    security: [{ bearer: [] }, { ticket: [] }, { previewCookie: [] }],
  },
});

/** Routes without a token. */
export const openRoutes: readonly Omit<ApiRoute, 'handler'>[] = [...linkedRoutes, ...authRoutes];

const openEntry = (route: (typeof openRoutes)[number]): Entry => ({
  ...{ method: route.method, path: route.path },
  // A secret of the query, or a cookie, is the credential.
  operation: { ...operation(route.method, route), security: [] },
});

const pathsOf = (entries: readonly Entry[]): ZodOpenApiPathsObject => {
  const ids = entries.map((entry) => entry.operation.operationId);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new Error(`two operations are called ${repeated}`);
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const entry of entries) {
    const path = documentedPath(entry.path);
    paths[path] = { ...paths[path], [entry.method.toLowerCase()]: entry.operation };
  }
  return paths;
};
