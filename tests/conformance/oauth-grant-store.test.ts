/** Registrations, codes and grants of connected clients against a real DynamoDB engine: bounds, one use, and rotation in one step. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeClientStore, makeCodeStore } from '#shared/adapters/aws/dynamo/oauth-client-store.ts';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import {
  type AuthorizationCode,
  accessTokenOf,
  addressRegistrationsMax,
  type Grant,
  registrationsMax,
} from '#shared/domain/oauth/grant.ts';
import { openFileTable, sentTwice } from './table-fixture.ts';

const fixture = openFileTable();
const now = 4_000_000_000_000;

const newClient = () => ({
  ...{ id: randomUUID(), name: 'a client', redirectUris: ['http://127.0.0.1:9/back'] },
  ...{ createdAt: now, expiresAt: now + 1000 },
});

test('OA7: registrations of an hour end at a number, of one address and of all', async () => {
  const clients = makeClientStore(fixture.table);
  let registered = 0;
  for (let address = 0; registered < registrationsMax && address < registrationsMax; address += 1)
    for (let count = 0; count < addressRegistrationsMax; count += 1)
      registered += Number(await clients.register(newClient(), `address ${address}`));
  expect(registered).toBe(registrationsMax);
  expect(await clients.register(newClient(), 'another')).toBe(false);
  const later = { ...newClient(), createdAt: now + 3_600_000 };
  for (let count = 0; count < addressRegistrationsMax; count += 1)
    expect(await clients.register({ ...later, id: randomUUID() }, 'one')).toBe(true);
  expect(await clients.register(later, 'one')).toBe(false);
  expect(await clients.register(later, 'two')).toBe(true);
  await clients.keep(later.id, now + 9000);
  expect(await clients.get(later.id)).toEqual({ ...later, expiresAt: now + 9000 });
});

const opened = async () => {
  const [codes, grants] = [makeCodeStore(fixture.table), makeGrantStore(fixture.table)];
  const consent = { holder: `token-${randomUUID()}`, scope: 'admin:ro' as const, token: 'f'.repeat(64) };
  const [client, redirectUri] = [{ id: randomUUID(), name: 'a client' }, 'http://127.0.0.1:9/back'];
  const grant: Grant = {
    ...{ id: randomUUID(), family: randomUUID(), client, redirectUri, consent },
    ...{ refreshHash: randomUUID(), accessHash: randomUUID() },
    ...{ createdAt: now, refreshedAt: now, expiresAt: now + 1000 },
  };
  const code: AuthorizationCode = {
    ...{ client, redirectUri, consent, challenge: 'c', grantId: grant.id, family: grant.family },
    expiresAt: now + 60_000,
  };
  const codeHash = randomUUID();
  await codes.put(codeHash, code);
  return { codes, grants, grant, codeHash, tokens: makeTokenStore(fixture.table) };
};
const accessOf = (grant: Grant, hash = grant.accessHash) => accessTokenOf(grant, { hash, now });

test('OA3: of many who use a code one wins, and a replay keeps its grant from opening', async () => {
  const { codes, grants, grant, codeHash } = await opened();
  const uses = await Promise.all([1, 2, 3, 4].map((at) => codes.use(codeHash, at)));
  expect(uses.filter((isFirst) => isFirst)).toHaveLength(1);
  expect(await grants.open(grant, accessOf(grant), { hash: codeHash })).toBe(false);
  expect(await grants.get(grant.family)).toBeUndefined();
});

test('OA4: of many refreshes one wins, and the end takes the newest token along', async () => {
  const { codes, grants, grant, codeHash, tokens } = await opened();
  expect(await codes.use(codeHash, now)).toBe(true);
  expect(await grants.open(grant, accessOf(grant), { hash: codeHash })).toBe(true);
  expect(await grants.get(grant.family)).toEqual(grant);
  expect(await tokens.get(grant.accessHash)).toEqual(accessOf(grant));
  expect((await tokens.list({ itemsMax: 100 })).tokens).toEqual([]);
  const rotate = () =>
    grants.rotate(
      grant,
      { access: accessOf(grant, randomUUID()), refreshHash: randomUUID() },
      { refreshedAt: now + 1, expiresAt: now + 2000 },
    );
  const won = (await Promise.all([rotate(), rotate(), rotate()])).filter((isDone) => isDone);
  expect(won).toHaveLength(1);
  expect(await tokens.get(grant.accessHash)).toBeUndefined();
  const [current] = await grants.ofHolder(grant.consent.holder);
  expect(await tokens.get(current?.accessHash ?? '')).toBeDefined();
  expect(await grants.end(grant.family)).toEqual(current);
  expect(await tokens.get(current?.accessHash ?? '')).toBeUndefined();
  expect(await grants.end(grant.family)).toBeUndefined();
});

test('OA8: a code opens no grant once the record of its credential is gone', async () => {
  const { codes, grants, grant, codeHash, tokens } = await opened();
  const [id, credential] = [randomUUID(), randomUUID()];
  await tokens.put({ id, hash: credential, name: 'ann', scope: 'admin', masked: '', createdAt: now });
  await codes.use(codeHash, now);
  await tokens.remove(id);
  expect(await grants.open(grant, accessOf(grant), { hash: codeHash, credential })).toBe(false);
  expect(await grants.get(grant.family)).toBeUndefined();
});

test('OA3: a use whose first answer was lost is no replay', async () => {
  const codes = makeCodeStore(sentTwice(fixture.table));
  const opens = async (uses: number): Promise<boolean> => {
    const { grants, grant, codeHash } = await opened();
    for (let use = 1; use <= uses; use += 1) expect(await codes.use(codeHash, now)).toBe(use === 1);
    return grants.open(grant, accessOf(grant), { hash: codeHash });
  };
  expect([await opens(1), await opens(2)]).toEqual([true, false]);
});
