/** Sign-in of a browser: what it opened ends when its browser signs in anew, and when its person signs out (AC10). */
import { expect, test } from 'vitest';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeSignInStore } from '#shared/adapters/aws/dynamo/sign-in-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import type { AuditLog } from '../../ports/access.ts';
import { finishSignIn, type LoginDeps, personOfCookie, signOut } from './browser-sign-in.ts';

const open = () => {
  const { ports: quiet, table } = openQuietPorts();
  const closed: ConnectionId[] = [];
  const ports = (subject: string): LoginDeps => ({
    ...quiet,
    ...{ tokens: makeTokenStore(table), grants: makeGrantStore(table), signIns: makeSignInStore(table) },
    auditLog: fake<AuditLog>({ append: async () => undefined }),
    sockets: { ...quiet.sockets, close: async (id) => void closed.push(id) },
    signInMs: 3_600_000,
    signIn: { issuer: { verify: async () => undefined }, rules: { scopeClaim: 'scope' } },
    login: {
      begin: () => Promise.reject(new Error('nobody begins here')),
      finish: async () => ({ issuer: 'https://i', subject, expiresAt: 1, scopeValue: 'admin' }),
    },
  });
  const signIn = async (subject: string, former?: string): Promise<string> => {
    const secrets = { state: 's', nonce: 'n', verifier: 'v' };
    const answer = { callbackUrl: 'https://o/api/auth/callback', secrets, former };
    return (await finishSignIn(ports(subject), answer)).secret;
  };
  return { ports: ports(''), closed, signIn };
};

test('AC10: a sign-in that takes the place of another one closes the sockets that the other opened', async () => {
  const { ports, closed, signIn } = open();
  const ofAda = await signIn('ada');
  const ada = await personOfCookie(ports, ofAda);
  if (ada === undefined) throw new Error('nobody is signed in');
  const id = 'of ada' as ConnectionId;
  await ports.connections.put({ id, principal: ada, connectedAt: 1, sessionId: 's' as SessionId });
  const ofBob = await signIn('bob', ofAda);
  expect(closed).toEqual([id]);
  expect(await personOfCookie(ports, ofAda)).toBeUndefined();
  expect(await personOfCookie(ports, ofBob)).toBeDefined();
});

test('AC10: a sign-out everywhere that failed is repeated to its end', async () => {
  const { ports, closed, signIn } = open();
  const [here, there] = [await signIn('ada'), await signIn('ada')];
  for (const [id, secret] of [
    ['here', here],
    ['there', there],
  ] as const) {
    const principal = await personOfCookie(ports, secret);
    if (principal === undefined) throw new Error('nobody is signed in');
    await ports.connections.put({ id: id as ConnectionId, principal, connectedAt: 1 });
  }
  const everywhere = { secret: here, isEverywhere: true };
  const ofHolder = () => Promise.reject(new Error('the table is throttled'));
  await expect(signOut({ ...ports, grants: { ...ports.grants, ofHolder } }, everywhere)).rejects.toThrow(
    'throttled',
  );
  expect(await personOfCookie(ports, here)).toBeDefined();
  const close = () => Promise.reject(new Error('the gateway is not there'));
  await expect(
    signOut({ ...ports, sockets: { ...ports.sockets, close } }, { secret: here, isEverywhere: false }),
  ).rejects.toThrow('the gateway');
  expect(await personOfCookie(ports, here)).toBeUndefined();
  await signOut(ports, everywhere);
  expect(closed).toEqual(['here']);
});

test('AC10: a sign-out everywhere ends the clients and all sign-ins, whichever socket cannot be closed', async () => {
  const { ports, closed, signIn } = open();
  const [here, there] = [await signIn('ada'), await signIn('ada')];
  const ada = await personOfCookie(ports, there);
  if (ada === undefined) throw new Error('nobody is signed in');
  await ports.connections.put({ id: 'there' as ConnectionId, principal: ada, connectedAt: 1 });
  const asked: string[] = [];
  const ofHolder = async (holder: string) => {
    asked.push(holder);
    return [];
  };
  const post = () => Promise.reject(new Error('its buffer is full'));
  const slow = {
    ...ports,
    ...{ grants: { ...ports.grants, ofHolder }, sockets: { ...ports.sockets, post } },
  };
  await signOut(slow, { secret: here, isEverywhere: true });
  expect(asked).toHaveLength(1);
  expect(closed).toEqual(['there']);
  expect(await personOfCookie(ports, here)).toBeUndefined();
  expect(await personOfCookie(ports, there)).toBeUndefined();
});
