/** J7 for schedules that a connected client made: their credential is its grant, whose access tokens last for minutes. */
import { expect, test } from 'vitest';
import { makeClientStore, makeCodeStore } from '#shared/adapters/aws/dynamo/oauth-client-store.ts';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import {
  begin,
  historyOf,
  made,
  minute,
  openWorld,
  stateOf,
} from '../../../tests/conformance/schedule-world.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { accessTokenOf, type Consent, clientPrincipal, type Grant } from '../../domain/oauth/grant.ts';
import { defaultProject } from '../../domain/principal.ts';
import { dispatchSchedule } from './dispatch-schedule.ts';

const scope = `project:${defaultProject}` as const;
const adminTokenHash = 'the first token';
const day = 24 * 60 * minute;

/** A client that the holder of a token connected, with a schedule that it made. */
const open = async () => {
  const { table } = openQuietPorts();
  const stores = {
    codes: makeCodeStore(table),
    grants: makeGrantStore(table),
    tokens: makeTokenStore(table),
  };
  const client = { id: crypto.randomUUID(), name: 'a client' };
  const at = { createdAt: begin, expiresAt: begin + 90 * day };
  await makeClientStore(table).register({ ...client, ...at, redirectUris: ['https://a.example/'] }, 'here');
  const token = { id: crypto.randomUUID(), hash: 'of ann', name: 'ann', scope, masked: '', createdAt: begin };
  await stores.tokens.put(token);
  const consent: Consent = { holder: `token-${token.id}`, scope, token: token.hash };
  const named = { client, consent, redirectUri: 'https://a.example/', family: 'the family' };
  await stores.codes.put('code', { ...named, challenge: 'c', grantId: 'g', expiresAt: begin + minute });
  await stores.codes.use('code', begin);
  const hashes = { accessHash: 'access 1', refreshHash: 'refresh 1' };
  const grant: Grant = { ...named, ...hashes, ...at, id: 'g', refreshedAt: begin };
  const access = accessTokenOf(grant, { hash: 'access 1', now: begin });
  expect(await stores.grants.open(grant, access, { hash: 'code' })).toBe(true);
  const world = openWorld(table);
  const ports = { ...world.ports, ...stores, adminTokenHash };
  const schedule = await made(world, {
    creator: clientPrincipal(access),
    targets: [{ project: defaultProject }],
  });
  /** Its client has another access token by then, and the first one is over. */
  const refresh = async () => {
    world.at.now = begin + minute;
    const next = accessTokenOf(grant, { hash: 'access 2', now: world.at.now });
    const times = { refreshedAt: world.at.now, expiresAt: grant.expiresAt };
    expect(await stores.grants.rotate(grant, { access: next, refreshHash: 'refresh 2' }, times)).toBe(true);
  };
  const run = () => dispatchSchedule(ports, { id: schedule.id, runAt: begin + minute });
  return { world, schedule, token, ...stores, refresh, run };
};

test('J7: a schedule that a connected client made runs as long as the client is connected', async () => {
  const { world, schedule, refresh, run } = await open();
  await refresh();
  await run();
  expect(world.said).toHaveLength(1);
  expect((await stateOf(world, schedule)).schedule).toMatchObject({ isEnabled: true });
});

test.each<[string, (all: Awaited<ReturnType<typeof open>>) => Promise<unknown>]>([
  ['was disconnected', ({ grants }) => grants.end('the family')],
  ['was connected with a token that is revoked', ({ tokens, token }) => tokens.remove(token.id)],
])('J7: it runs no more once its client %s', async (_which, end) => {
  const all = await open();
  const { world, schedule, refresh, run } = all;
  await refresh();
  await end(all);
  await run();
  expect(world.said).toEqual([]);
  expect((await stateOf(world, schedule)).schedule).toMatchObject({ isEnabled: false });
  expect(await historyOf(world, schedule)).toMatchObject([{ state: 'failed' }]);
});
