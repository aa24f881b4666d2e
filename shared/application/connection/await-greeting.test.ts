/** Answers to frames that came before the greeting: they wait for it, for a while, and later ones cost no read. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { connectMsMax } from '../../domain/limits.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import { greetMsMax } from '../../domain/subscriber.ts';
import { openGreetings } from './await-greeting.ts';

const [connectionId, sessionId] = ['c' as ConnectionId, 's' as SessionId];
const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;

type Ports = ReturnType<typeof openQuietPorts>['ports'];

/** Of a connection that was opened just now. `onSleep` runs before each wait for the greeting. */
const open = async (onSleep: (ports: Ports) => Promise<void> = async () => undefined) => {
  const { ports, clock, takeRequests } = openQuietPorts();
  const connectedAt = clock.now;
  const greetBy = connectedAt + greetMsMax;
  await ports.connections.put({ id: connectionId, sessionId, principal, connectedAt, greetBy });
  const sleep: Ports['world']['sleep'] = async (...asked) => {
    await onSleep(ports);
    await ports.world.sleep(...asked);
  };
  const wait = openGreetings({ ...ports, world: { ...ports.world, sleep } });
  takeRequests();
  const answer = (after = 0, session: SessionId | undefined = sessionId) =>
    wait({ connectionId, sessionId: session, connectedAt, acceptedAt: connectedAt + after });
  return { ports, clock, takeRequests, answer };
};

test('an answer waits for the greeting, and those that follow read nothing', async () => {
  const seen: string[] = [];
  const { takeRequests, answer } = await open(async ({ connections }) => {
    seen.push('waits');
    if (seen.length === 3) await connections.greeted(sessionId, connectionId);
  });
  expect(await answer()).toBe(true);
  expect(seen).toEqual(['waits', 'waits', 'waits']);
  takeRequests();
  expect([await answer(), takeRequests()]).toEqual([true, []]);
});

test('without a greeting it waits for ten seconds', async () => {
  const { clock, answer } = await open();
  const from = clock.now;
  expect(await answer()).toBe(false);
  expect(clock.now - from).toBe(10_000);
});

test('of an old connection, and of one without a session, nothing is read', async () => {
  const { takeRequests, answer } = await open();
  expect(await answer(connectMsMax)).toBe(true);
  expect(takeRequests()).toEqual([]);
});

test('one that has closed meanwhile is not waited for', async () => {
  const { ports, clock, answer } = await open();
  await ports.connections.remove(connectionId);
  const from = clock.now;
  expect([await answer(), clock.now - from]).toEqual([true, 0]);
});
