/**
 * The credentials of a request to `/api`: a bearer, else the cookie of a browser's sign-in, which counts only for pages of
 * our own origin (AC10). A bearer that is wrong is refused, whatever the cookie.
 */
import { authenticate, unauthenticated } from '#shared/application/access/authenticate.ts';
import { personOfCookie } from '#shared/application/access/browser-sign-in.ts';
import type { AccessDeps } from '#shared/application/deps.ts';
import {
  cookieNamed,
  isFromOwnPage,
  publicOriginOf,
  signInCookie,
} from '#shared/contracts/browser-request.ts';
import { bearerToken, header } from '#shared/contracts/credentials.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { AppError } from '#shared/errors.ts';
import { type ApiEvent, readMethods } from './api-route.ts';

export const callerOf = async (
  ports: AccessDeps,
  event: ApiEvent,
  publicUrl: string | undefined,
): Promise<Principal> => {
  const { headers } = event;
  const secret = cookieNamed(headers, signInCookie);
  if (header(headers, 'authorization') !== undefined || secret === undefined)
    return authenticate(ports, { token: bearerToken(headers) });
  requireOwnPage(event, publicUrl);
  const person = await personOfCookie(ports, secret);
  if (person === undefined) throw unauthenticated();
  return person;
};

/** Refuses what a page of another origin may have caused. */
export const requireOwnPage = ({ headers, httpMethod }: ApiEvent, publicUrl: string | undefined): void => {
  const kind = readMethods.includes(httpMethod) ? 'read' : 'write';
  if (isFromOwnPage(headers, { kind, publicUrl })) return;
  throw new AppError('forbidden', 'a sign-in works only for pages of this origin', {
    suggestions: ['Programs: send the header Authorization: Bearer <token>.'],
  });
};

/** The origin under which people and clients know the deployment. */
export const requiredOrigin = (event: ApiEvent, publicUrl: string | undefined): string => {
  const origin = publicOriginOf(event, publicUrl);
  if (origin === undefined) throw new AppError('invalid_request', 'the request names no host');
  return origin;
};
