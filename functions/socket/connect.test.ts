/** A connection that is refused: an HTTP answer, and a line in the log as for any other request. */
import { expect, test } from 'vitest';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import type { LogFields } from '#shared/ports/telemetry.ts';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import { type ConnectPorts, connect } from './connect.ts';

const sessionId = crypto.randomUUID() as SessionId;
const request = {
  ...{ connectionId: 'c' as ConnectionId, sessionId, query: { sessionId }, subprotocols: [], body: '' },
  ...{ connectedAt: 1000, acceptedAt: 1000, correlationId: 'r' },
  principal: { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'hash' },
};

const open = (take: () => Promise<boolean>) => {
  const { ports: quiet } = openQuietPorts();
  const logged: (LogFields | undefined)[] = [];
  const note = (_message: string, fields?: LogFields) => void logged.push(fields);
  const telemetry = { ...quiet.telemetry, info: note, warn: note, error: note };
  const ports = { ...quiet, telemetry, rateLimiter: { take } } as unknown as ConnectPorts;
  return { logged, answer: () => connect(ports, request, {} as SessionDefaults) };
};

test.each([
  ['to a session that does not exist', true, 404, 'session_not_found'],
  ['above the rate', false, 429, 'rate_limited'],
] as const)('a connection %s is refused and logged', async (...[, isWithin, status, code]) => {
  const { logged, answer } = open(async () => isWithin);
  const { statusCode, body } = await answer();
  expect([statusCode, JSON.parse(body).error.code]).toEqual([status, code]);
  expect(logged).toEqual([{ event: 'request_refused', code, status, resource: '$connect' }]);
});

test('a fault of ours is logged as one, and is no answer', async () => {
  const { logged, answer } = open(() => Promise.reject(new Error('the table is away')));
  await expect(answer()).rejects.toThrow('the table is away');
  expect(logged).toMatchObject([{ event: 'request_refused', code: 'internal_error', resource: '$connect' }]);
});
