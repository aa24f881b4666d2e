import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('connected clients are listed and disconnected', async () => {
  const client = {
    ...{ id: 'c1', name: 'Claude Code', host: 'this machine', scope: 'project:p:ro' },
    ...{ createdAt: 'T1', refreshedAt: 'T2', expiresAt: 'T3' },
  };
  await using there = await logIn({
    'GET /api/auth/clients': { body: { clients: [client] } },
    'DELETE /api/auth/clients': { status: 204, body: undefined },
    'DELETE /api/auth/clients/c1': { status: 204, body: undefined },
  });
  expect((await there.run(['client'])).stdout).toBe(
    [
      'ID  NAME         HOST          SCOPE         LAST USED  EXPIRES',
      'c1  Claude Code  this machine  project:p:ro  T2         T3',
      '',
    ].join('\n'),
  );
  expect(JSON.parse((await there.run(['client', 'list', '--json'])).stdout)).toEqual({ clients: [client] });
  expect((await there.run(['client', 'disconnect', 'c1'])).stdout).toBe('Disconnected c1.\n');
  expect((await there.run(['client', 'disconnect', '--all'])).stdout).toBe('Disconnected all clients.\n');
  expect((await there.run(['client', 'disconnect'])).code).not.toBe(0);
});
