/**
 * Storage as the library asks for it: clients, codes and grants, by hashes of what the client has.
 *
 * A second use of a code, and every refresh token but the newest, ends the grant with all its tokens: another party has a copy
 * (RFC 6749, 4.1.2; RFC 9700, 4.14; OA3, OA4).
 */
import type OAuth2Server from '@node-oauth/oauth2-server';
import { isRegistered } from '#shared/contracts/redirect-uri.ts';
import {
  type AuthorizationCode,
  accessTokenOf,
  type Consent,
  codeSecondsMax,
  type Grant,
  grantEnd,
} from '#shared/domain/oauth/grant.ts';
import type { AccessToken } from '#shared/domain/principal.ts';
import type { ClientStore, CodeStore, Consented, GrantStore } from '#shared/ports/oauth.ts';
import type { World } from '#shared/ports/world.ts';
import { accessText, codeText, familyOfCode, familyOfRefresh, refreshText } from './grant-values.ts';

export type GrantPorts = {
  readonly clients: ClientStore;
  readonly codes: CodeStore;
  readonly grants: GrantStore;
  readonly world: World;
  /** False when the credential of a consent has ended. */
  readonly stillHolds: (consent: Consent) => Promise<boolean>;
  readonly onConnected: (grant: Grant) => Promise<void>;
  /** A grant was ended, since a code or a refresh token was used a second time. */
  readonly onReplay: (grant: Grant) => Promise<void>;
};

type Model = OAuth2Server.AuthorizationCodeModel & OAuth2Server.RefreshTokenModel;

/** The library passes it through as the user of a code or of a refresh token. */
type Source = { readonly family: string } & (
  | { readonly code: AuthorizationCode; readonly codeHash: string }
  | { readonly grant: Grant }
);

const grantTypes = ['authorization_code', 'refresh_token'];

type Parts = {
  /** Absent where no code is made. */
  readonly consented?: Consented | undefined;
  readonly refusal: (message: string) => Error;
};

export const makeGrantModel = (ports: GrantPorts, parts: Parts): Model => ({
  ...clientModel(ports),
  ...codeModel(ports, parts),
  ...refreshModel(ports),
  ...tokenModel(ports, parts),
});

const clientModel = ({ clients, world }: GrantPorts): Pick<Model, 'getClient' | 'validateRedirectUri'> => ({
  getClient: async (id) => {
    const client = await clients.get(id);
    if (client === undefined || client.expiresAt <= world.now()) return false;
    return { ...client, redirectUris: [...client.redirectUris], grants: grantTypes };
  },
  validateRedirectUri: async (uri, { redirectUris }) =>
    Array.isArray(redirectUris) && isRegistered(uri, redirectUris),
});

type CodeModel = Pick<
  Model,
  'generateAuthorizationCode' | 'saveAuthorizationCode' | 'getAuthorizationCode' | 'revokeAuthorizationCode'
>;

const codeModel = (ports: GrantPorts, { consented }: Parts): CodeModel => {
  const { codes, world } = ports;
  return {
    generateAuthorizationCode: async () => codeText(world),
    saveAuthorizationCode: async (code, client, user) => {
      if (consented === undefined) return false;
      const { authorizationCode, redirectUri } = code;
      await codes.put(world.sha256(authorizationCode), {
        ...consented,
        client: { id: client.id, name: client['name'] },
        redirectUri,
        grantId: world.uuid(),
        family: world.sha256(familyOfCode(authorizationCode, world)),
        expiresAt: world.now() + codeSecondsMax * 1000,
      });
      return { ...code, client, user };
    },
    getAuthorizationCode: async (text) => {
      const codeHash = world.sha256(text);
      const code = await codes.get(codeHash);
      if (code === undefined) return false;
      if (code.usedAt !== undefined) {
        await codes.use(codeHash, world.now());
        return replayed(ports, code.family);
      }
      const user: Source = { code, codeHash, family: familyOfCode(text, world) };
      return {
        authorizationCode: text,
        expiresAt: new Date(code.expiresAt),
        redirectUri: code.redirectUri,
        codeChallenge: code.challenge,
        codeChallengeMethod: 'S256',
        scope: [code.consent.scope],
        client: { ...code.client, grants: grantTypes },
        user,
      };
    },
    revokeAuthorizationCode: async ({ user }) => {
      const { code, codeHash } = user as Extract<Source, { code: unknown }>;
      return (await codes.use(codeHash, world.now())) || replayed(ports, code.family);
    },
  };
};

const refreshModel = (ports: GrantPorts): Pick<Model, 'getRefreshToken' | 'revokeToken'> => ({
  getRefreshToken: async (text) => {
    const { grants, world } = ports;
    const family = familyOfRefresh(text);
    const grant = family === undefined ? undefined : await grants.get(world.sha256(family));
    if (family === undefined || grant === undefined || grant.expiresAt <= world.now()) return false;
    if (grant.refreshHash !== world.sha256(text)) return replayed(ports, grant.family);
    if (!(await ports.stillHolds(grant.consent))) {
      await grants.end(grant.family);
      return false;
    }
    const user: Source = { grant, family };
    return {
      refreshToken: text,
      refreshTokenExpiresAt: new Date(grant.expiresAt),
      scope: [grant.consent.scope],
      client: { ...grant.client, grants: grantTypes },
      user,
    };
  },
  // The pair is exchanged in one step, by `saveToken`.
  revokeToken: async () => true,
});

type TokenModel = Pick<
  Model,
  'generateAccessToken' | 'generateRefreshToken' | 'saveToken' | 'getAccessToken'
>;

const tokenModel = (ports: GrantPorts, { refusal }: Parts): TokenModel => {
  const { world } = ports;
  return {
    generateAccessToken: async () => accessText(world),
    generateRefreshToken: async (_client, user) => refreshText((user as Source).family, world),
    saveToken: async (token, client, user) => {
      const access = await exchange(ports, user as Source, {
        accessHash: world.sha256(token.accessToken),
        refreshHash: world.sha256(token.refreshToken ?? ''),
      });
      if (access === undefined) throw refusal('the grant has ended');
      const accessTokenExpiresAt = new Date(access.expiresAt ?? 0);
      return { ...token, accessTokenExpiresAt, scope: [access.scope], client, user };
    },
    // No route asks the library to authenticate.
    getAccessToken: async () => false,
  };
};

const replayed = async ({ grants, onReplay }: GrantPorts, family: string): Promise<false> => {
  const ended = await grants.end(family);
  if (ended !== undefined) await onReplay(ended);
  return false;
};

type Hashes = Pick<Grant, 'accessHash' | 'refreshHash'>;

/** The new access token; undefined when another request was first, which ends the grant, or when the credential of a code has ended. */
const exchange = async (
  ports: GrantPorts,
  source: Source,
  made: Hashes,
): Promise<AccessToken | undefined> => {
  const now = ports.world.now();
  if ('grant' in source) {
    const { grant } = source;
    const access = accessTokenOf(grant, { hash: made.accessHash, now });
    const times = { refreshedAt: now, expiresAt: grantEnd(grant.consent, grant.createdAt, now) };
    if (await ports.grants.rotate(grant, { access, refreshHash: made.refreshHash }, times)) return access;
    await replayed(ports, grant.family);
    return undefined;
  }
  const { client, consent, credential, family, grantId, redirectUri } = source.code;
  const times = { createdAt: now, refreshedAt: now, expiresAt: grantEnd(consent, now, now) };
  const grant: Grant = { id: grantId, family, client, redirectUri, consent, ...made, ...times };
  const access = accessTokenOf(grant, { hash: made.accessHash, now });
  if (grant.expiresAt <= now || !(await ports.stillHolds(consent))) return undefined;
  const code = { hash: source.codeHash, ...(credential === undefined ? {} : { credential }) };
  if (!(await ports.grants.open(grant, access, code))) return undefined;
  await ports.onConnected(grant);
  return access;
};
