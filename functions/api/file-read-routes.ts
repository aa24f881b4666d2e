/**
 * Files of a session's workspace, read: from its sandbox, streamed, which is started when needed. A token that may only
 * read starts none (AC5).
 */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import type { FileWant } from '#shared/application/sandbox/browse-files.ts';
import { fetchFiles } from '#shared/application/session/read-files.ts';
import { decode } from '#shared/contracts/decode.ts';
import {
  archiveQuery,
  changedAnswer,
  filesAnswer,
  filesQuery,
  watchQuery,
} from '#shared/contracts/rest/file-view.ts';
import type { Session } from '#shared/domain/session.ts';
import { AppError } from '#shared/errors.ts';
import {
  insideErrors,
  openingFor,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
} from './acquire-for-request.ts';
import { type ApiEvent, type ApiRoute, principalOf, queryOf } from './api-route.ts';
import { checkedPath, filePathOf } from './file-path.ts';
import { onSession } from './resource-route.ts';

type FileRoutes = { readonly ports: SessionSandboxPorts; readonly settings: SessionSandboxSettings };
type Read = { readonly want: FileWant; readonly path: string };

export const fileReadRoutes = ({ ports, settings }: FileRoutes): readonly ApiRoute[] => {
  const fetch = (event: ApiEvent, session: Session, { want, path }: Read): Promise<Response> => {
    const opening = openingFor(settings);
    return fetchFiles(ports, { session, path, principal: principalOf(event), opening }, want);
  };
  const read = async (event: ApiEvent, session: Session, wanted: Read): Promise<StreamedResult> => {
    const response = await fetch(event, session, wanted);
    const type = response.headers.get('content-type') ?? 'application/octet-stream';
    return { statusCode: 200, headers: { 'content-type': type }, body: response.body ?? '' };
  };
  const sendArchive = async (event: ApiEvent, session: Session, path: string): Promise<StreamedResult> => {
    const name = path.split('/').findLast((step) => step !== '' && step !== '.') ?? 'workspace';
    return asAttachment(await read(event, session, { want: 'archive', path }), `${name}.tar.gz`);
  };
  return [
    onSession(ports, {
      method: 'GET',
      path: '/api/sessions/{id}/files',
      needs: 'own:read',
      contract: {
        summary: 'List a folder, or everything below it',
        query: filesQuery,
        answers: { 200: filesAnswer },
        types: ['application/json', 'application/gzip'],
        errors: readErrors,
      },
      handler: (event, { session }) => {
        const { recursive, archive, ...query } = queryOf(event, filesQuery);
        const path = checkedPath(query.path);
        if (archive !== undefined) return sendArchive(event, session, path);
        return read(event, session, { want: recursive ? 'tree' : 'folder', path });
      },
    }),
    onSession(ports, {
      method: 'GET',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:read',
      contract: {
        summary: 'Read a file, or a folder as an archive',
        query: archiveQuery,
        answers: { 200: 'bytes' },
        types: ['application/octet-stream', 'application/gzip'],
        errors: readErrors,
      },
      handler: async (event, { session }) => {
        const path = filePathOf(event);
        if (queryOf(event, archiveQuery).archive !== undefined) return sendArchive(event, session, path);
        const answer = await read(event, session, { want: 'file', path });
        return asAttachment(answer, path.split('/').at(-1) ?? 'file');
      },
    }),
    onSession(ports, {
      method: 'HEAD',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:read',
      contract: {
        summary: 'Read the size, type and time of a file or folder',
        answers: { 200: 'empty' },
        errors: readErrors,
      },
      handler: async (event, { session }) => {
        const response = await fetch(event, session, { want: 'stat', path: filePathOf(event) });
        return describe(await response.json());
      },
    }),
    onSession(ports, {
      method: 'GET',
      path: '/api/sessions/{id}/watch',
      needs: 'own:read',
      contract: {
        summary: 'Follow the changes below a folder, or of a file',
        query: watchQuery,
        answers: { 200: 'events' },
        errors: readErrors,
      },
      handler: async (event, { session }) => {
        const path = checkedPath(queryOf(event, watchQuery).path);
        const answer = await read(event, session, { want: 'watch', path });
        return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
      },
    }),
  ];
};

const readErrors = [...insideErrors, 'path_outside_workspace', 'file_not_found'] as const;

/** A browser saves it, and never shows it as a page of ours. */
export const asAttachment = (answer: StreamedResult, name: string): StreamedResult => ({
  ...answer,
  headers: {
    ...answer.headers,
    'content-disposition': `attachment; filename*=UTF-8''${extendedValue(name)}`,
    'x-content-type-options': 'nosniff',
  },
});

/** Some of what a URL leaves as it is ends or separates parts of a header (RFC 8187, 3.2.1). */
const extendedValue = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** A folder has no length. The size is named twice: a gateway may write the length of the empty body over the first. */
export const describe = (described: unknown): StreamedResult => {
  const entry = decode(changedAnswer.required(), described);
  if (!entry.ok)
    throw new AppError('internal_error', 'the sandbox described no file', { cause: entry.problem });
  const { type, size, modifiedAt } = entry.value;
  const isFile = type === 'file';
  return {
    statusCode: 200,
    headers: {
      'content-type': isFile ? 'application/octet-stream' : 'inode/directory',
      ...(isFile ? { 'content-length': String(size), 'x-sallyport-size': String(size) } : {}),
      'last-modified': new Date(modifiedAt).toUTCString(),
      'x-sallyport-modified-at': modifiedAt,
      'x-sallyport-type': type,
    },
    body: '',
  };
};
