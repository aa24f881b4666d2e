/** A ticket at a path of a preview: exchanged for a cookie of that path, and of nothing that the path says besides. */
import { expect, test } from 'vitest';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { issueTicket } from '#shared/application/access/authenticate.ts';
import { deploymentOwner, type Principal } from '#shared/domain/principal.ts';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import type { ApiEvent } from './api-route.ts';
import { answerPreview, type Preview, previewTarget } from './preview-routes.ts';

const adminTokenHash = 'the first token';
const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: adminTokenHash };

const exchange = async (session: string) => {
  const { ports: quiet, table } = openQuietPorts();
  const ports = { ...quiet, adminTokenHash, tokens: makeTokenStore(table) };
  const { ticket } = await issueTicket(ports as unknown as Preview['ports'], principal);
  const event = {
    ...{ httpMethod: 'GET', path: `/api/sessions/${session}/ports/8000/`, headers: { host: 'own.example' } },
    ...{ queryStringParameters: { ticket }, multiValueQueryStringParameters: { ticket: [ticket], q: ['1'] } },
  } as unknown as ApiEvent;
  const target = previewTarget(event);
  if (target === undefined) throw new Error('it is no path of a preview');
  return answerPreview({ ports, settings: {} } as unknown as Preview, event, target);
};

test('a ticket is exchanged for a cookie of its path', async () => {
  const session = crypto.randomUUID();
  const path = `/api/sessions/${session}/ports/8000/`;
  const { statusCode, headers } = await exchange(session.toUpperCase());
  expect([statusCode, headers['location']]).toEqual([302, `${path}?q=1`]);
  expect(headers['set-cookie']).toMatch(
    new RegExp(`^sallyport-preview=\\w{64}; Path=${path}; Max-Age=\\d+; HttpOnly; SameSite=Lax$`),
  );
});

test.each(['x', 'x;Domain=example.org;'])(
  'no cookie is made of the path of a session %s',
  async (session) => {
    await expect(exchange(session)).rejects.toMatchObject({ code: 'session_not_found' });
  },
);
