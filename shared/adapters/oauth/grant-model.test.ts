/** Codes whose credential ends before they are exchanged: by a revocation, a sign-out, or its time (OA8). */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeClientStore, makeCodeStore } from '#shared/adapters/aws/dynamo/oauth-client-store.ts';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeSignInStore } from '#shared/adapters/aws/dynamo/sign-in-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { holdsConsent } from '#shared/application/access/connected-clients.ts';
import { giveConsent } from '#shared/application/access/consent.ts';
import type { OwnerId, ProjectId } from '#shared/domain/ids.ts';
import {
  type AccessToken,
  defaultProject,
  deploymentOwner,
  type Principal,
} from '#shared/domain/principal.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { makeOAuthProtocol } from './protocol.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const adminTokenHash = sha256('the first token');
const scope = `project:${defaultProject}` as const;
const redirectUri = 'http://127.0.0.1:9/back';
const verifier = 'v'.repeat(43);
const resource = 'https://platform.example.com/mcp';

const open = async () => {
  const { ports: quiet, table, clock } = openQuietPorts();
  // The library reads the machine's clock, too: all that is made here ends after it.
  clock.now = 4_000_000_000_000;
  const world = { ...quiet.world, sha256 };
  const stores = {
    ...{ clients: makeClientStore(table), codes: makeCodeStore(table), grants: makeGrantStore(table) },
    ...{ tokens: makeTokenStore(table), world, adminTokenHash },
  };
  const protocol = makeOAuthProtocol({
    ...stores,
    stillHolds: (consent) => holdsConsent(stores, consent),
    onConnected: async () => undefined,
    onReplay: async () => undefined,
  });
  const projects = { ...quiet.projects, get: async (id: ProjectId) => ({ id }) as never };
  const client = { id: crypto.randomUUID(), name: 'a client', redirectUris: [redirectUri] };
  const expiresAt = clock.now + 86_400_000;
  await stores.clients.register({ ...client, createdAt: clock.now, expiresAt }, 'here');
  const consented = async (principal: Principal): Promise<string> => {
    const fields = {
      ...{ client_id: client.id, redirect_uri: redirectUri, response_type: 'code' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256' as const,
    };
    const asked = { fields, resource, issuer: 'https://platform.example.com', scope };
    const address = await giveConsent({ ...stores, projects, protocol }, principal, asked);
    return new URL(address).searchParams.get('code') ?? '';
  };
  const exchanged = (code: string) =>
    protocol.token({
      ...{ grant_type: 'authorization_code', code, code_verifier: verifier },
      ...{ client_id: client.id, redirect_uri: redirectUri },
    });
  const record = (fields: Partial<AccessToken> = {}): AccessToken => ({
    ...{ id: crypto.randomUUID(), hash: sha256(crypto.randomUUID()), name: 'ann', scope: 'admin' },
    ...{ masked: '', createdAt: clock.now, ...fields },
  });
  const asToken = async (fields: Partial<AccessToken> = {}) => {
    const token = record(fields);
    await stores.tokens.put(token);
    const { id: tokenId, hash: tokenHash, name } = token;
    return { owner: deploymentOwner, scope: 'admin', tokenHash, tokenId, name } as const;
  };
  const asBrowser = async () => {
    const person = sha256('ada');
    const signIn = { ...record({ expiresAt }), person };
    await makeSignInStore(table).put(signIn);
    const by = { owner: `person-${person}` as OwnerId, scope: 'admin', tokenHash: person } as const;
    return { ...by, isPerson: true, signIn: signIn.hash, expiresAt } as const;
  };
  return { ...stores, ...{ table, clock, protocol, consented, exchanged, asToken, asBrowser } };
};

const refused = { status: 400, body: { error: 'invalid_grant' } };

test('OA8: a code opens nothing once the token with which its person consented is revoked', async () => {
  const { asToken, consented, exchanged, grants, tokens } = await open();
  const ann = await asToken();
  const code = await consented(ann);
  await tokens.remove(ann.tokenId);
  expect(await exchanged(code)).toMatchObject(refused);
  expect(await grants.ofHolder(`token-${ann.tokenId}`)).toEqual([]);
});

test('OA8: a code opens nothing once its token has expired', async () => {
  const { asToken, clock, consented, exchanged } = await open();
  const code = await consented(await asToken({ expiresAt: clock.now + 1000 }));
  clock.now += 1000;
  expect(await exchanged(code)).toMatchObject(refused);
});

test('OA8: a code opens nothing once the browser in which its person consented is signed out', async () => {
  const { asBrowser, consented, exchanged, table } = await open();
  const ada = await asBrowser();
  const code = await consented(ada);
  await makeSignInStore(table).remove(ada.signIn);
  expect(await exchanged(code)).toMatchObject(refused);
});

test.each([
  [{}, 'invalid_request'],
  [{ grant_type: 'password' }, 'unsupported_grant_type'],
  [{ grant_type: 'client_credentials', client_id: 'x' }, 'unsupported_grant_type'],
  [{ grant_type: 'constructor' }, 'unsupported_grant_type'],
  [{ grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_client'],
])('RFC 6749, 5.2: a request of %o is %s', async (fields, error) => {
  const { protocol } = await open();
  expect(await protocol.token(fields)).toMatchObject({ status: 400, body: { error } });
});

test('a code whose credential holds opens its grant', async () => {
  const { asBrowser, asToken, consented, exchanged } = await open();
  const first = { owner: deploymentOwner, scope: 'admin', tokenHash: adminTokenHash } as const;
  for (const who of [first, await asToken(), await asBrowser()])
    expect(await exchanged(await consented(who))).toMatchObject({ status: 200 });
});
