/**
 * Access tokens: created, listed masked, revoked, by admins; the text of a new one is returned once. A token that is revoked takes
 * along the clients that were connected with it, and closes the sockets that it opened.
 */

import { projectOf } from '../../domain/access.ts';
import { isUuid } from '../../domain/ids.ts';
import { type AccessToken, decodeScope, maskToken, type Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { AuditDeps, Deps } from '../deps.ts';
import { audit } from './audit.ts';
import { type CloseDeps, closeSocketsOfCredential } from './close-sockets-of-credential.ts';
import { disconnectToken } from './connected-clients.ts';
import { projectNotFound } from './find-project.ts';

export type TokenOptions = {
  readonly name: string;
  readonly scope: string;
  readonly expiresInSeconds?: number | undefined;
};

export const createToken = async (
  ports: AuditDeps & Deps<'tokens' | 'projects'>,
  principal: Principal,
  { name, scope: wanted, expiresInSeconds }: TokenOptions,
): Promise<{ readonly record: AccessToken; readonly token: string }> => {
  const scope = decodeScope(wanted);
  if (scope === undefined)
    throw new AppError('invalid_request', 'scope: use admin, admin:ro, project:<uuid> or project:<uuid>:ro');
  const project = projectOf(scope);
  if (project !== undefined && (await ports.projects.get(project)) === undefined) throw projectNotFound();
  const { world, tokens } = ports;
  const token = `sp_${world.uuid()}${world.uuid()}`.replaceAll('-', '');
  const createdAt = world.now();
  const record: AccessToken = {
    id: world.uuid(),
    hash: world.sha256(token),
    name,
    scope,
    masked: maskToken(token),
    createdAt,
    ...(expiresInSeconds === undefined ? {} : { expiresAt: createdAt + expiresInSeconds * 1000 }),
  };
  if (!(await tokens.put(record))) throw projectNotFound();
  await audit(ports, principal, {
    action: 'token.create',
    subject: record.id,
    project,
    detail: { name, scope },
  });
  return { record, token };
};

export const listTokens = (
  { tokens }: Deps<'tokens'>,
  page: { readonly after?: string; readonly itemsMax: number },
) => tokens.list(page);

export const revokeToken = async (
  ports: AuditDeps & CloseDeps & Deps<'tokens' | 'grants'>,
  principal: Principal,
  id: string,
): Promise<AccessToken> => {
  const removed = isUuid(id) ? await ports.tokens.remove(id) : undefined;
  if (removed === undefined) throw new AppError('token_not_found', 'there is no such token');
  await disconnectToken(ports, principal, id);
  await closeSocketsOfCredential(ports, removed.hash);
  await audit(ports, principal, {
    action: 'token.revoke',
    subject: id,
    project: projectOf(removed.scope),
    detail: { name: removed.name, scope: removed.scope },
  });
  // Last, so that a request that failed before it can be repeated.
  await ports.tokens.forget(id);
  return removed;
};
