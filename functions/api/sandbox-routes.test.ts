/** A lease of a port over REST: a port that is never leased starts no sandbox. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import type { SessionSandboxPorts, SessionSandboxSettings } from './acquire-for-request.ts';
import type { ApiEvent } from './api-route.ts';
import { sandboxRoutes } from './sandbox-routes.ts';

test.each([80, 8080, 99_999])('the lease of port %i is refused before a sandbox is started', async (port) => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const routes = sandboxRoutes({
    ports: ports as unknown as SessionSandboxPorts,
    settings: { lifetimes: {} } as unknown as SessionSandboxSettings,
  });
  const event = {
    httpMethod: 'POST',
    pathParameters: { id: session.id },
    headers: {},
    body: JSON.stringify({ port }),
    requestContext: { requestId: 'r' },
    principal: { kind: 'admin', scope: 'admin' },
  } as unknown as ApiEvent;
  const lease = routes.find(({ method, path }) => method === 'POST' && path.endsWith('/ports'));
  await expect(lease?.handler(event)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('port: use a number from 1024 to 65535'),
  });
  expect((await ports.workspaces.get(session.workspace))?.sandbox).toBe(undefined);
});
