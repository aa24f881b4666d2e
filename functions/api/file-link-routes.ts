/**
 * Links to files: made by the session's route, and answered before the router, since they carry no token. The secret is
 * in the query, which no access log has. The file is an attachment, never a page of ours.
 */
import * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import type { AccessDeps, Deps } from '#shared/application/deps.ts';
import { changeFiles } from '#shared/application/session/change-files.ts';
import {
  makeFileLink,
  type OpenedLink,
  openFileLink,
  readByLink,
  writeByLink,
} from '#shared/application/session/file-links.ts';
import { publicOriginOf } from '#shared/contracts/browser-request.ts';
import { header } from '#shared/contracts/credentials.ts';
import { iso } from '#shared/contracts/fields.ts';
import { linkAnswer, linkBody } from '#shared/contracts/rest/file-link-view.ts';
import { writtenAnswer } from '#shared/contracts/rest/file-view.ts';
import { AppError } from '#shared/errors.ts';
import {
  insideErrors,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
  sandboxForRequest,
} from './acquire-for-request.ts';
import { type ApiEvent, type ApiRoute, json, principalOf } from './api-route.ts';
import { changeAddressOf } from './file-change-routes.ts';
import { checkedPath } from './file-path.ts';
import { asAttachment, describe } from './file-read-routes.ts';
import { fence } from './preview-headers.ts';
import { bodyOf, bytesOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

export type LinkPorts = SessionSandboxPorts & AccessDeps & Deps<'rateLimiter' | 'fileLinks'>;
export type Links = {
  readonly ports: LinkPorts;
  readonly settings: SessionSandboxSettings;
  /** The address of the deployment for people; absent: the one that the request names. */
  readonly publicUrl: string | undefined;
};

export const linkRoutes = ({ ports, publicUrl }: Links): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/links',
    needs: 'own:write',
    contract: {
      summary: 'Make a link that reads or writes a file without a token',
      body: linkBody,
      answers: { 201: linkAnswer },
      errors: ['path_outside_workspace', 'invalid_session_state'],
    },
    handler: async (event, { session }) => {
      const wish = bodyOf(event, linkBody);
      const path = checkedPath(wish.path);
      if (path.endsWith('/')) throw new AppError('invalid_request', 'path: it names a folder, not a file');
      const made = await makeFileLink(ports, { ...wish, path, session, principal: principalOf(event) });
      const name = encodeURIComponent(path.split('/').at(-1) ?? 'file');
      const url = `${publicOriginOf(event, publicUrl) ?? ''}${linksPrefix}${name}?key=${made.secret}`;
      return json(201, { url, expiresAt: iso(made.expiresAt) });
    },
  }),
];

const linksPrefix = '/api/links/';
const query = z.object({ key: z.string().describe('The secret of the link.') });

/** Documented here; `answerLink` serves them. */
export const linkedRoutes = [
  {
    method: 'GET',
    path: '/api/links/{name}',
    needs: 'any',
    contract: {
      summary: 'Read the file of a link',
      query,
      answers: { 200: 'bytes' },
      errors: ['file_not_found'],
    },
  },
  {
    method: 'PUT',
    path: '/api/links/{name}',
    needs: 'any',
    contract: {
      summary: 'Write the file of a link, once',
      query,
      body: 'bytes',
      answers: { 200: writtenAnswer, 201: writtenAnswer },
      errors: insideErrors,
    },
  },
] as const satisfies readonly Omit<ApiRoute, 'handler'>[];

export const isLink = ({ path }: ApiEvent): boolean => path.startsWith(linksPrefix);

export const answerLink = async (
  { ports, settings }: Omit<Links, 'publicUrl'>,
  event: ApiEvent,
): Promise<StreamedResult> => {
  const secret = event.queryStringParameters?.['key'] ?? '';
  const opened = await openFileLink(ports, { secret, method: event.httpMethod });
  if (opened.link.method === 'PUT') return write({ ports, settings }, event, { ...opened, secret });
  const want = event.httpMethod === 'HEAD' ? 'stat' : 'file';
  const response = await readByLink(ports, opened, want);
  const { headers, ...answer } = want === 'stat' ? describe(await response.json()) : fileAnswer(response);
  const fencedIn = { ...answer, headers: { ...headers, ...linkFence } };
  return asAttachment(fencedIn, opened.link.path.split('/').at(-1) ?? 'file');
};

const fileAnswer = ({ body }: Response): StreamedResult => ({
  statusCode: 200,
  headers: { 'content-type': 'application/octet-stream' },
  body: body ?? '',
});

const write = (
  { ports, settings }: Omit<Links, 'publicUrl'>,
  event: ApiEvent,
  { link, session, secret }: OpenedLink & { readonly secret: string },
): Promise<StreamedResult> => {
  // A part would use the link up.
  if (header(event.headers, 'content-range') !== undefined)
    throw new AppError('invalid_request', 'a link accepts a file in one request only, without Content-Range');
  return writeByLink(ports, secret, async () => {
    const sandbox = await sandboxForRequest(ports, { session, settings });
    const request = { method: 'PUT', path: changeAddressOf(link.path, {}), body: bytesOf(event) };
    const { status, answer } = await changeFiles(ports, sandbox, request);
    return json(status, answer);
  });
};

const linkFence = {
  'content-security-policy': fence['content-security-policy'],
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};
