/**
 * Files of a session's workspace, straight from its sandbox, streamed; the sandbox is started when needed, except
 * for a token that may only read (AC5). A written or removed file is in a checkpoint before the answer.
 */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { refusalOf } from '#shared/application/sandbox/refusal-of.ts';
import { fetchFiles, keepWritten } from '#shared/application/session/session-files.ts';
import { header } from '#shared/contracts/credentials.ts';
import { filePathProblem } from '#shared/contracts/fields.ts';
import { filesQuery, partHeaders } from '#shared/contracts/rest/bodies.ts';
import { filesAnswer, receivedAnswer, writtenAnswer } from '#shared/contracts/rest/workspace-view.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import { AppError } from '#shared/errors.ts';
import type { LinkRequest } from '#shared/ports/sandbox.ts';
import { type ApiEvent, type ApiRoute, bytesOf, json, principalOf, queryOf } from './api-route.ts';
import { onSession } from './resource-route.ts';
import {
  insideErrors,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
  sessionSandbox,
} from './session-sandbox.ts';

export const fileRoutes = ({
  ports,
  settings,
}: {
  readonly ports: SessionSandboxPorts;
  readonly settings: SessionSandboxSettings;
}): readonly ApiRoute[] => {
  const { lifetimes } = settings;
  const read = async (event: ApiEvent, session: Session, { want, path }: Read): Promise<StreamedResult> => {
    const opening = { lifetimes, correlationId: event.requestContext.requestId };
    const response = await fetchFiles(ports, { session, path, principal: principalOf(event), opening }, want);
    const type = response.headers.get('content-type') ?? 'application/octet-stream';
    return { statusCode: 200, headers: { 'content-type': type }, body: response.body ?? '' };
  };
  const change = async (event: ApiEvent, session: Session, request: Change): Promise<StreamedResult> => {
    const path = filePath(event);
    const sandbox = await sessionSandbox(ports, event, { session, settings });
    const response = await ask(ports, event, { sandbox, path, ...request });
    if (response.status !== 202) await keepWritten(ports, sandbox);
    const text = await response.text();
    return text === ''
      ? { statusCode: response.status, headers: {}, body: '' }
      : json(response.status, JSON.parse(text));
  };
  return [
    onSession(ports, {
      method: 'GET',
      path: '/api/sessions/{id}/files',
      needs: 'own:read',
      contract: {
        summary: 'List a folder',
        query: filesQuery,
        answers: { 200: filesAnswer },
        errors: [...insideErrors, 'path_outside_workspace', 'file_not_found'],
      },
      handler: (event, { session }) =>
        read(event, session, { want: 'folder', path: queryOf(event, filesQuery).path }),
    }),
    onSession(ports, {
      method: 'GET',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:read',
      contract: { summary: 'Read a file', answers: { 200: 'bytes' }, errors: fileErrors },
      handler: async (event, { session }) => {
        const path = decodedPath(event);
        const answer = await read(event, session, { want: 'file', path });
        const name = encodeURIComponent(path.split('/').at(-1) ?? 'file');
        const headers = { ...answer.headers, 'content-disposition': `attachment; filename*=UTF-8''${name}` };
        return { ...answer, headers: { ...headers, 'x-content-type-options': 'nosniff' } };
      },
    }),
    onSession(ports, {
      method: 'PUT',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:write',
      contract: {
        summary: 'Write a file, in one request or in parts',
        headers: partHeaders,
        body: 'bytes',
        answers: { 200: writtenAnswer, 201: writtenAnswer, 202: receivedAnswer },
        errors: fileErrors,
      },
      handler: (event, { session }) => {
        const range = header(event.headers, 'content-range');
        const headers: Record<string, string> = range === undefined ? {} : { 'content-range': range };
        return change(event, session, { method: 'PUT', headers, body: bytesOf(event) });
      },
    }),
    onSession(ports, {
      method: 'DELETE',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:write',
      contract: { summary: 'Delete a file or a folder', answers: { 204: 'empty' }, errors: fileErrors },
      handler: (event, { session }) => change(event, session, { method: 'DELETE' }),
    }),
  ];
};

const fileErrors = [...insideErrors, 'path_outside_workspace', 'file_not_found', 'conflict'] as const;

type Read = { readonly want: 'file' | 'folder'; readonly path: string };
type Change = Omit<LinkRequest, 'path'>;

const ask = async (
  ports: SessionSandboxPorts,
  event: ApiEvent,
  { sandbox, headers = {}, ...request }: LinkRequest & { readonly sandbox: LiveSandbox },
): Promise<Response> => {
  const correlated = { ...headers, 'x-correlation-id': event.requestContext.requestId };
  const response = await ports.link.fetch(sandbox, { ...request, headers: correlated });
  if (!response.ok) throw await refusalOf(response);
  return response;
};

/** The gateway's own `proxy` parameter shadows the router's. */
const filesPrefix = /^\/api\/sessions\/[^/]+\/files\//;

const filePath = (event: ApiEvent): string =>
  `/files/${decodedPath(event).split('/').map(encodeURIComponent).join('/')}`;

const decodedPath = (event: ApiEvent): string => {
  const path = event.path.replace(filesPrefix, '');
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    throw new AppError('invalid_request', 'the path is not encoded as a URL asks for');
  }
  const problem = filePathProblem(decoded);
  if (problem !== undefined) throw new AppError('invalid_request', `it must be ${problem}`);
  if (!decoded.split('/').includes('..')) return decoded;
  throw new AppError('path_outside_workspace', 'the path leaves the workspace', {
    suggestions: ['Give a path relative to /workspace.'],
  });
};
