/** A browser that signs in anew: what its former sign-in opened ends with it (AC10). */
import { expect, test } from 'vitest';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeSignInStore } from '#shared/adapters/aws/dynamo/sign-in-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import type { AuditLog } from '../../ports/access.ts';
import { finishSignIn, type LoginDeps, personOfCookie } from './browser-sign-in.ts';

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
