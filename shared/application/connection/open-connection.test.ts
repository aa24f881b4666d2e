/** A connection's beginning and end: what each asks of the table, and whose session it may watch. */
import { expect, test } from 'vitest';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId, OwnerId, SessionId } from '../../domain/ids.ts';
import { unusedSessionMs } from '../../domain/limits.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { sweep } from '../janitor/sweep-in-rounds.ts';
import { createSession, type SessionDefaults } from '../session/create-session.ts';
import { closeConnection } from './close-connection.ts';
import { openConnection } from './open-connection.ts';

const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'hash' };
const defaults: SessionDefaults = {
  provider: 'demo',
  flavor: 'small',
  template: 'python',
  lifetimes,
};
const stranger: Principal = { owner: 'p' as OwnerId, scope: 'project:p', tokenHash: 'other' };
const limits = { stepsMax: 10, callsMax: 10, usdMax: 10 };
const connectionId = 'c-1' as ConnectionId;

const open = () => {
  const quiet = openQuietPorts();
  const sessionId = crypto.randomUUID() as SessionId;
  const connect = (isNew: boolean, as: Principal = principal) =>
    openConnection(quiet.ports, { connectionId, sessionId, isNew, principal: as, options: {} }, defaults);
  return { ...quiet, sessionId, connect };
};

test('a session with a new id is created without a lookup', async () => {
  const { connect, takeRequests } = open();
  await connect(true);
  // The one read is of the project.
  expect(takeRequests()).toEqual(['Get', 'TransactWrite', 'TransactWrite']);
});

test('AC7: an unknown id is refused like that of another owner, by the same calls', async () => {
  const refusal = async ({ connect, takeRequests }: ReturnType<typeof open>, as: Principal) => {
    takeRequests();
    const error = await connect(false, as).catch((reason: unknown) => reason);
    return { error, requests: takeRequests() };
  };
  const [taken, free] = [open(), open()];
  await taken.connect(true);
  const foreign = await refusal(taken, stranger);
  expect(foreign).toEqual(await refusal(free, stranger));
  expect(foreign.error).toMatchObject({ code: 'session_not_found' });
  expect(foreign.requests).toEqual(['Get']);
  expect(await free.ports.sessions.get(free.sessionId)).toBeUndefined();
});

test('a taken id is detected all the same', async () => {
  const { connect, sessionId, ports } = open();
  await connect(true);
  await connect(true);
  await expect(connect(true, stranger)).rejects.toThrow();
  expect((await ports.connections.subscribers(sessionId)).length).toBe(1);
});

test('a closing session is read once, and an unused one is deleted soon after', async () => {
  const { connect, sessionId, ports, takeRequests, clock } = open();
  await connect(true);
  takeRequests();
  await closeConnection(ports, { connectionId, sessionId }, limits);
  expect(takeRequests()).toEqual(['Get', 'TransactWrite', 'Get', 'Update']);
  await sweep(ports, { lifetimes: defaults.lifetimes });
  expect((await ports.sessions.get(sessionId))?.status).toBe('created');
  clock.now += unusedSessionMs;
  await sweep(ports, { lifetimes: defaults.lifetimes });
  expect(await ports.sessions.get(sessionId)).toBeUndefined();
});

test('a connection that was lost resumes the session that it created', async () => {
  const { connect, sessionId, ports, clock } = open();
  await connect(true);
  await closeConnection(ports, { connectionId, sessionId }, limits);
  clock.now += unusedSessionMs - 1;
  await connect(false);
  clock.now += unusedSessionMs;
  await sweep(ports, { lifetimes: defaults.lifetimes });
  expect((await ports.sessions.get(sessionId))?.status).toBe('created');
});

test('a session whose connection ended unheard is deleted when the gateway must have ended it', async () => {
  const { connect, sessionId, ports, clock } = open();
  const lookAfter = async (milliseconds: number) => {
    clock.now += milliseconds;
    await sweep(ports, { lifetimes: defaults.lifetimes });
    return (await ports.sessions.get(sessionId))?.status;
  };
  await connect(true);
  expect(await lookAfter(7_319_999)).toBe('created');
  expect(await lookAfter(1)).toBeUndefined();
  expect(await ports.connections.get(connectionId)).toBeUndefined();
});

test('a connection that came later keeps the session, until it must have ended, too', async () => {
  const { connect, sessionId, ports, clock } = open();
  const { lifetimes } = defaults;
  await connect(true);
  clock.now += 7_200_000;
  const request = { connectionId: 'c-2' as ConnectionId, sessionId, isNew: false, principal, options: {} };
  await openConnection(ports, request, defaults);
  clock.now += 120_000;
  await sweep(ports, { lifetimes });
  expect(await ports.connections.subscribers(sessionId)).toMatchObject([{ id: 'c-2' }]);
  expect((await ports.sessions.get(sessionId))?.status).toBe('created');
  clock.now += 7_320_000;
  await sweep(ports, { lifetimes });
  expect(await ports.sessions.get(sessionId)).toBeUndefined();
});

test('a session that a caller created explicitly stays when its last connection closes', async () => {
  const { connect, sessionId, ports } = open();
  const request = { id: sessionId, principal, options: {}, defaults };
  await createSession(ports, request);
  await connect(false);
  await closeConnection(ports, { connectionId, sessionId }, limits);
  expect((await ports.sessions.get(sessionId))?.status).toBe('created');
});
