/** Files of a session's workspace, straight from its sandbox, streamed; the sandbox is started when needed. */
import type { StreamedResult } from '#shared/adapters/lambda/house-handler.ts';
import { openSandbox } from '#shared/application/open-sandbox.ts';
import { filesQuery } from '#shared/contracts/rest.ts';
import { AppError, isErrorCode } from '#shared/errors.ts';
import type { ApiRoute } from './answer.ts';
import { type ApiEvent, queryOf } from './api-request.ts';
import { found, type SessionPorts } from './session-routes.ts';

type OpenPorts = Parameters<typeof openSandbox>[0];
export type FilePorts = SessionPorts & OpenPorts;

export const fileRoutes = ({ ports }: { readonly ports: FilePorts }): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/sessions/{id}/files',
    handler: async (event: ApiEvent) => {
      const { path } = queryOf(event, filesQuery);
      return fromSandbox(ports, event, `/files?path=${encodeURIComponent(path)}`);
    },
  },
  {
    method: 'GET',
    path: '/api/sessions/{id}/files/{proxy+}',
    handler: async (event: ApiEvent) => {
      const path = decodePath(event.path.replace(filesPrefix, ''));
      const answer = await fromSandbox(
        ports,
        event,
        `/files/${path.split('/').map(encodeURIComponent).join('/')}`,
      );
      const name = encodeURIComponent(path.split('/').at(-1) ?? 'file');
      const headers = { ...answer.headers, 'content-disposition': `attachment; filename*=UTF-8''${name}` };
      return { ...answer, headers: { ...headers, 'x-content-type-options': 'nosniff' } };
    },
  },
];

/** The gateway's own `proxy` parameter shadows the router's. */
const filesPrefix = /^\/api\/sessions\/[^/]+\/files\//;

const decodePath = (path: string): string => {
  try {
    const decoded = decodeURIComponent(path);
    if (!decoded.split('/').includes('..') && !decoded.includes('\0')) return decoded;
  } catch {
    throw new AppError('invalid_request', 'the path is not encoded as a URL asks for');
  }
  throw new AppError('path_outside_workspace', 'the path leaves the workspace', {
    suggestions: ['Give a path relative to /workspace.'],
  });
};

const fromSandbox = async (ports: FilePorts, event: ApiEvent, path: string): Promise<StreamedResult> => {
  const { session } = await found(ports, event, 'read');
  const sandbox = await openSandbox(ports, session);
  const headers = { 'x-correlation-id': event.requestContext.requestId };
  const response = await ports.link.fetch(sandbox, { method: 'GET', path, headers });
  if (!response.ok) throw await refusalOf(response);
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  return { statusCode: 200, headers: { 'content-type': type }, body: response.body ?? '' };
};

const refusalOf = async (response: Response): Promise<AppError> => {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return isErrorCode(error.code)
    ? new AppError(error.code, error.message)
    : new AppError('internal_error', 'the sandbox refused the request');
};
