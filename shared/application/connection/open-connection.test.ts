/** A connection's beginning and end: what each asks of the table, and whose session it may watch. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId, OwnerId, SessionId } from '../../domain/ids.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { createSession, type SessionDefaults } from '../session/create-session.ts';
import { closeConnection } from './close-connection.ts';
import { openConnection } from './open-connection.ts';

const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'hash' };
const defaults: SessionDefaults = {
  provider: 'demo',
  flavor: 'small',
  template: 'python',
  lifetimes: { idleMs: 900_000, executionIdleMs: 900_000, historyMs: 86_400_000 },
  places: { executionMax: 1, agentMax: 1 },
};
const limits = { stepsMax: 10, callsMax: 10, usdMax: 10 };
const connectionId = 'c-1' as ConnectionId;

const open = () => {
  const quiet = openQuietPorts();
  const sessionId = crypto.randomUUID() as SessionId;
  const connect = (isNew: boolean, as: Principal = principal) =>
    openConnection(quiet.ports, { connectionId, sessionId, isNew, principal: as, wish: {} }, defaults);
  return { ...quiet, sessionId, connect };
};

test('a session whose id was made for it is made without a look for it', async () => {
  const made = open();
  await made.connect(true);
  const named = open();
  await named.connect(false);
  const requests = made.takeRequests();
  // The one read is of the project.
  expect(requests).toEqual(['Get', 'TransactWrite', 'TransactWrite']);
  expect(named.takeRequests()).toEqual(['Get', ...requests]);
});

test('an id that is taken is found out all the same', async () => {
  const { connect, sessionId, ports } = open();
  await connect(true);
  await connect(true);
  const other = { ...principal, owner: 'another' as OwnerId, scope: 'project:p:ro' } as unknown as Principal;
  await expect(connect(true, other)).rejects.toThrow();
  expect((await ports.connections.watchers(sessionId)).length).toBe(1);
});

test('one that closes is read once, and a session that was never used goes with it', async () => {
  const { connect, sessionId, ports, takeRequests } = open();
  await connect(true);
  takeRequests();
  await closeConnection(ports, connectionId, limits);
  expect(takeRequests().slice(0, 4)).toEqual(['Get', 'TransactWrite', 'Get', 'Query']);
  expect(await ports.sessions.get(sessionId)).toBeUndefined();
});

test('a session that somebody asked for stays when its last connection closes', async () => {
  const { connect, sessionId, ports } = open();
  const request = { id: sessionId, principal, wish: {}, defaults };
  await createSession(ports, request);
  await connect(false);
  await closeConnection(ports, connectionId, limits);
  expect((await ports.sessions.get(sessionId))?.status).toBe('created');
});
