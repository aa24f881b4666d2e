/**
 * Revocation of a token by its client (RFC 7009): either token of a grant ends it. A token of another client, or an unknown one,
 * changes nothing.
 */
import type { AuditDeps, Deps } from '../deps.ts';
import { record } from './connected-clients.ts';

type Revocation = { readonly text: string; readonly clientId: string };

export const revokeByClient = async (
  ports: AuditDeps & Deps<'grants' | 'tokens' | 'protocol'>,
  { text, clientId }: Revocation,
): Promise<void> => {
  const family =
    ports.protocol.familyOf(text) ?? (await ports.tokens.get(ports.world.sha256(text)))?.client?.family;
  const grant = family === undefined ? undefined : await ports.grants.get(family);
  if (grant?.client.id !== clientId) return;
  const ended = await ports.grants.end(grant.family);
  if (ended !== undefined) await record(ports, ended, { action: 'client.disconnect' });
};
