/**
 * Clients that people connected to `/mcp`: listed and ended by the person who connected them, ended by the client itself, and ended with
 * their credential (OA8).
 */
import { projectOf } from '../../domain/access.ts';
import { type Consent, type Grant, holderOf, holderOfToken } from '../../domain/oauth/grant.ts';
import { isExpired, ownerOf, type Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { AuditDeps, Deps } from '../deps.ts';
import { audit } from './audit.ts';

export const listClients = async (
  { grants, world }: Deps<'grants' | 'world'>,
  principal: Principal,
): Promise<readonly Grant[]> => {
  const now = world.now();
  return (await grants.ofHolder(holderOf(principal))).filter(({ expiresAt }) => expiresAt > now);
};

type EndDeps = AuditDeps & Deps<'grants'>;

export const disconnectClient = async (ports: EndDeps, principal: Principal, id: string): Promise<void> => {
  const grant = (await ports.grants.ofHolder(holderOf(principal))).find((one) => one.id === id);
  const ended = grant && (await ports.grants.end(grant.family));
  if (ended === undefined) throw new AppError('not_found', 'there is no such connected client');
  await record(ports, ended, { action: 'client.disconnect', by: principal });
};

/** The number of clients that ended. */
export const disconnectAll = async (ports: EndDeps, principal: Principal): Promise<number> =>
  endOf(ports, holderOf(principal), principal);

/** Ends what was connected with a token that is revoked. */
export const disconnectToken = (ports: EndDeps, principal: Principal, tokenId: string): Promise<number> =>
  endOf(ports, holderOfToken(tokenId), principal);

const endOf = async (ports: EndDeps, holder: string, principal: Principal): Promise<number> => {
  const found = await ports.grants.ofHolder(holder);
  const ended = await Promise.all(found.map(({ family }) => ports.grants.end(family)));
  const those = ended.flatMap((grant) => grant ?? []);
  for (const grant of those) await record(ports, grant, { action: 'client.disconnect', by: principal });
  return those.length;
};

type Revocation = { readonly text: string; readonly clientId: string };

/**
 * Revocation of a token by its client (RFC 7009): either token of a grant ends it. A token of another client, or an unknown one,
 * changes nothing.
 */
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

type Event = {
  readonly action: 'client.connect' | 'client.disconnect' | 'client.replay';
  /** Absent for what a client itself did, which is its person's. */
  readonly by?: Principal;
};

export const record = (
  ports: AuditDeps,
  grant: Grant,
  { action, by = principalOfConsent(grant.consent) }: Event,
): Promise<void> =>
  audit(ports, by, {
    action,
    subject: grant.id,
    project: projectOf(grant.consent.scope),
    detail: { client: grant.client.name, redirectUri: grant.redirectUri, scope: grant.consent.scope },
  });

const principalOfConsent = ({ scope, person, token, by, holder }: Consent): Principal => ({
  owner: ownerOf(scope),
  scope,
  tokenHash: person ?? token ?? holder,
  ...(by === undefined ? {} : { name: by }),
  ...(person === undefined ? {} : { isPerson: true as const }),
});

/** True while a client is connected, whichever access token it has just now. */
export const holdsGrant = async (
  ports: Deps<'grants' | 'tokens' | 'adminTokenHash' | 'world'>,
  family: string,
): Promise<boolean> => {
  const grant = await ports.grants.get(family);
  return grant !== undefined && grant.expiresAt > ports.world.now() && holdsConsent(ports, grant.consent);
};

/** True while the credential of a consent is good. A person whom an issuer names has its end in the grant. */
export const holdsConsent = async (
  { tokens, adminTokenHash, world }: Deps<'tokens' | 'adminTokenHash' | 'world'>,
  { token }: Consent,
): Promise<boolean> => {
  if (token === undefined || token === adminTokenHash) return true;
  const known = await tokens.get(token);
  return known !== undefined && !isExpired(known, world.now());
};
