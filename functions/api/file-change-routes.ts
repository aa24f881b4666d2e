/**
 * Files of a session's workspace, changed through its sandbox, which is started when needed: written, unpacked, deleted,
 * moved, copied. A change is in a checkpoint before the answer.
 */
import * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { changeFiles, type FileChange } from '#shared/application/session/change-files.ts';
import { header } from '#shared/contracts/credentials.ts';
import {
  archiveQuery,
  changedAnswer,
  folderChangeQuery,
  partHeaders,
  receivedAnswer,
  unpackedAnswer,
  unpackQuery,
  writtenAnswer,
} from '#shared/contracts/rest/file-view.ts';
import type { Session } from '#shared/domain/session.ts';
import { AppError } from '#shared/errors.ts';
import {
  insideErrors,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
  sandboxForRequest,
} from './acquire-for-request.ts';
import { type ApiEvent, type ApiRoute, queryOf } from './api-route.ts';
import { checkedPath, filePathOf } from './file-path.ts';
import { answerWhenDone } from './keep-alive-response.ts';
import { bytesOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

type ChangeRoutes = { readonly ports: SessionSandboxPorts; readonly settings: SessionSandboxSettings };

export const fileChangeRoutes = ({ ports, settings }: ChangeRoutes): readonly ApiRoute[] => {
  const change = async (event: ApiEvent, session: Session, request: Change): Promise<StreamedResult> => {
    const { requestId } = event.requestContext;
    let status = 200;
    const work = async (): Promise<unknown> => {
      const sandbox = await sandboxForRequest(ports, { session, settings, beginsEarly: true });
      const changed = await changeFiles(ports, sandbox, request);
      status = changed.status;
      return changed.answer;
    };
    return answerWhenDone(work, { requestId, telemetry: ports.telemetry, status: () => status });
  };
  const upload = (event: ApiEvent, session: Session, path: string): Promise<StreamedResult> => {
    const headers = headersOf(event, Object.keys(partHeaders.shape));
    return change(event, session, { method: 'PUT', path, headers, body: bytesOf(event) });
  };
  return [
    onSession(ports, {
      method: 'PUT',
      path: '/api/sessions/{id}/files',
      needs: 'own:write',
      contract: {
        summary: 'Unpack an archive into the workspace or a folder',
        query: unpackQuery,
        ...uploaded,
        answers: { 200: unpackedAnswer, 201: unpackedAnswer, 202: receivedAnswer },
      },
      handler: (event, { session }) => {
        const { path } = queryOf(event, unpackQuery);
        return upload(event, session, changeAddressOf(checkedPath(path), { archive: 'tar.gz' }));
      },
    }),
    onSession(ports, {
      method: 'PUT',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:write',
      contract: {
        summary: 'Write a file or unpack an archive, in one request or in parts',
        query: archiveQuery,
        ...uploaded,
        answers: { 200: uploadAnswer, 201: uploadAnswer, 202: receivedAnswer },
      },
      handler: (event, { session }) => {
        const path = filePathOf(event);
        const { archive } = queryOf(event, archiveQuery);
        if (archive === undefined && (path.endsWith('/') || path === '.')) throw noFileName();
        return upload(event, session, changeAddressOf(path, archive === undefined ? {} : { archive }));
      },
    }),
    onSession(ports, {
      method: 'POST',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:write',
      contract: {
        summary: 'Make a folder, or move or copy a file or folder',
        query: folderChangeQuery,
        answers: { 200: changedAnswer, 201: changedAnswer },
        errors: [...changeErrors, 'tool_outcome_unknown'],
      },
      handler: (event, { session }) => {
        const { op, to, overwrite } = queryOf(event, folderChangeQuery);
        if (op !== 'mkdir' && to === undefined)
          throw new AppError('invalid_request', `to: ${op} needs the new path`);
        const query = { op, to: checkedPath(to ?? '.'), ...(overwrite ? { overwrite: '1' } : {}) };
        const path = changeAddressOf(filePathOf(event), query);
        return change(event, session, { method: 'POST', path, isOnce: op !== 'mkdir' });
      },
    }),
    onSession(ports, {
      method: 'DELETE',
      path: '/api/sessions/{id}/files/{proxy+}',
      needs: 'own:write',
      contract: { summary: 'Delete a file or a folder', answers: { 204: 'empty' }, errors: changeErrors },
      handler: async (event, { session }) => {
        const path = changeAddressOf(filePathOf(event), {});
        const sandbox = await sandboxForRequest(ports, { session, settings });
        await changeFiles(ports, sandbox, { method: 'DELETE', path });
        return { statusCode: 204, headers: {}, body: '' };
      },
    }),
  ];
};

const changeErrors = [...insideErrors, 'path_outside_workspace', 'file_not_found', 'conflict'] as const;

const uploaded = { headers: partHeaders, body: 'bytes', errors: changeErrors } as const;
const uploadAnswer = z.union([writtenAnswer, unpackedAnswer]);

const headersOf = (event: ApiEvent, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = header(event.headers, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

type Change = Omit<FileChange, 'signal'>;

/** Segments are encoded, slashes stay. */
export const changeAddressOf = (path: string, query: Readonly<Record<string, string>>): string => {
  const segments = path === '.' ? '' : path.split('/').map(encodeURIComponent).join('/');
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `/files/${segments}${text.length === 0 ? '' : `?${text.join('&')}`}`;
};

const noFileName = (): AppError =>
  new AppError('invalid_request', 'the path names a folder: add the name of a file', {
    suggestions: ['POST …/files/<path>?op=mkdir makes a folder.', 'PUT …?archive=tar.gz fills one.'],
  });
