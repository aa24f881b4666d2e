/** Sockets of a token: its revocation closes them, and none opens after it. */
import { expect, test } from 'vitest';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import type { AuditLog } from '../../ports/access.ts';
import { revokeToken } from './manage-tokens.ts';

const first: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'first' };
const sessionId = 's' as SessionId;

const open = async () => {
  const { ports: quiet, table } = openQuietPorts();
  const closed: ConnectionId[] = [];
  const ports = {
    ...quiet,
    ...{ tokens: makeTokenStore(table), grants: makeGrantStore(table) },
    auditLog: fake<AuditLog>({ append: async () => undefined }),
    sockets: { ...quiet.sockets, close: async (id: ConnectionId) => void closed.push(id) },
  };
  const asToken = async (name: string): Promise<Principal & { readonly tokenId: string }> => {
    const [tokenId, tokenHash] = [crypto.randomUUID(), `hash of ${name}`];
    const record = { id: tokenId, hash: tokenHash, name, masked: '', createdAt: 1, scope: 'admin' } as const;
    await ports.tokens.put(record);
    return { owner: deploymentOwner, scope: 'admin', tokenHash, tokenId, name };
  };
  const connect = (id: string, principal: Principal, within: object = { sessionId }) =>
    ports.connections.put({ id: id as ConnectionId, principal, connectedAt: 1, ...within });
  return { ports, closed, asToken, connect };
};

test('AC12: a revoked token loses its sockets, with a session and without one, and no others', async () => {
  const { ports, closed, asToken, connect } = await open();
  const [ann, bob] = [await asToken('ann'), await asToken('bob')];
  await connect('of ann', ann);
  await connect('of ann without a session', ann, {});
  await connect('of bob', bob);
  await connect('of the first token', first);
  await revokeToken(ports, first, ann.tokenId);
  expect(closed.toSorted()).toEqual(['of ann', 'of ann without a session']);
});

test('AC12: a socket that does not read is closed all the same', async () => {
  const { ports, closed, asToken, connect } = await open();
  const ann = await asToken('ann');
  await connect('of ann', ann);
  const post = () => Promise.reject(new Error('its buffer is full'));
  await revokeToken({ ...ports, sockets: { ...ports.sockets, post } }, first, ann.tokenId);
  expect(closed).toEqual(['of ann']);
});

test('AC12: a revocation that could not close a socket closes the others, and is repeated', async () => {
  const { ports, closed, asToken, connect } = await open();
  const ann = await asToken('ann');
  for (const id of ['a', 'b', 'c']) await connect(id, ann);
  const close = (id: ConnectionId) => {
    if (id === 'a') return Promise.reject(new Error('the gateway is not there'));
    return ports.sockets.close(id);
  };
  const failing = { ...ports, sockets: { ...ports.sockets, close } };
  await expect(revokeToken(failing, first, ann.tokenId)).rejects.toThrow('the gateway');
  expect(closed.toSorted()).toEqual(['b', 'c']);
  await revokeToken(ports, first, ann.tokenId);
  expect(closed).toContain('a');
  await expect(revokeToken(ports, first, ann.tokenId)).rejects.toMatchObject({ code: 'token_not_found' });
});

test('a socket of a revoked token that was accepted before the revocation does not open', async () => {
  const { ports, asToken, connect } = await open();
  const ann = await asToken('ann');
  await revokeToken(ports, first, ann.tokenId);
  await expect(connect('late', ann)).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await ports.connections.subscribers(sessionId)).toEqual([]);
});

test('the list of the sockets of a token ends with them', async () => {
  const { ports, asToken, connect } = await open();
  const ann = await asToken('ann');
  await connect('of ann', ann);
  expect(await ports.connections.openedBy(ann.tokenHash)).toEqual(['of ann']);
  await ports.connections.remove('of ann' as ConnectionId);
  expect(await ports.connections.openedBy(ann.tokenHash)).toEqual([]);
});
