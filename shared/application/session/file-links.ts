/**
 * Links to files: made by a caller who may write the session, and opened without a token, as the caller who made them.
 *
 * An unknown, expired, used or withdrawn link is answered as if it did not exist. A read starts no sandbox: it uses a running
 * one, or else the last checkpoint. A write claims the link before anything is sent, and gives it back if nothing was written.
 */
import { type FileLink, type LinkMethod, opens } from '../../domain/file-link.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import { stillHolds } from '../access/authenticate.ts';
import { findSession } from '../access/find-session.ts';
import { throttleLinks } from '../access/throttle.ts';
import type { AccessDeps, Deps, FileDeps } from '../deps.ts';
import { requireActive } from '../sandbox/acquire-with-heartbeat.ts';
import { browseFiles, readAddressOf } from '../sandbox/browse-files.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';
import { fileSuggestions } from './read-files.ts';

type LinkWish = {
  readonly principal: Principal;
  readonly session: Session;
  readonly path: string;
  readonly method: LinkMethod;
  readonly expiresInSeconds: number;
};

export const makeFileLink = async (
  { fileLinks, world }: Deps<'fileLinks' | 'world'>,
  { session, expiresInSeconds, ...wish }: LinkWish,
): Promise<{ readonly secret: string; readonly expiresAt: number }> => {
  // The files of one that has ended are not served, so its link would open nothing.
  requireActive(session);
  const secret = `${world.uuid()}${world.uuid()}`.replaceAll('-', '');
  const expiresAt = world.now() + expiresInSeconds * 1000;
  await fileLinks.put(world.sha256(secret), { ...wish, sessionId: session.id as SessionId, expiresAt });
  return { secret, expiresAt };
};

export type OpenedLink = { readonly link: FileLink; readonly session: Session };
type Opened = { readonly secret: string; readonly method: string };

export const openFileLink = async (
  ports: AccessDeps & Deps<'fileLinks' | 'rateLimiter' | 'turns'>,
  { secret, method }: Opened,
): Promise<OpenedLink> => {
  const { fileLinks, world, turns } = ports;
  const link = secret === '' ? undefined : await fileLinks.get(world.sha256(secret));
  if (link === undefined || !opens(link, { method, now: world.now() })) throw noLink();
  if (!(await stillHolds(ports, link.principal))) throw noLink();
  await throttleLinks(ports, link.principal);
  const intent = link.method === 'GET' ? 'read' : 'write';
  const { session } = await findSession(turns, { id: link.sessionId, principal: link.principal, intent });
  return { link, session };
};

export const readByLink = async (
  ports: FileDeps,
  { link: { path }, session }: OpenedLink,
  want: 'file' | 'stat',
): Promise<Response> => {
  const request = { method: 'GET', path: readAddressOf(want, path) };
  const response = await browseFiles(ports, session, { want, path, request });
  if (!response.ok) throw await refusalOf(response, () => fileSuggestions);
  return response;
};

/** Runs the one write of a link. */
export const writeByLink = async <T>(
  { fileLinks, world }: Deps<'fileLinks' | 'world'>,
  secret: string,
  write: () => Promise<T>,
): Promise<T> => {
  const hash = world.sha256(secret);
  if (!(await fileLinks.use(hash, world.now()))) throw noLink();
  try {
    return await write();
  } catch (error) {
    await fileLinks.release(hash);
    throw error;
  }
};

const noLink = (): AppError =>
  new AppError('not_found', 'there is no such link, or it has expired, was used, or its token was revoked', {
    suggestions: ['Ask for a new link: POST /api/sessions/{id}/links.'],
  });
