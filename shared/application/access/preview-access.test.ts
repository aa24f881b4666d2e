import { expect, test } from 'vitest';
import type { TokenStore } from '#shared/ports/access.ts';
import type { ConnectionStore } from '#shared/ports/connections.ts';
import { fake } from '../../../tests/fake.ts';
import type { OwnerId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { PreviewGrant } from '../../ports/connections.ts';
import type { AccessDeps } from '../deps.ts';
import { openPreview } from './preview-access.ts';

test('a browser has access to a preview no longer than its sign-in lasts', async () => {
  const ada: Principal = {
    owner: 'person-ada' as OwnerId,
    scope: 'admin',
    tokenHash: 'ada',
    isPerson: true,
    expiresAt: 5000,
  };
  const target = { sessionId: 's', port: 8000 };
  let now = 1000;
  let granted: PreviewGrant | undefined;
  const ports: AccessDeps = {
    tokens: fake<TokenStore>({ get: async () => undefined }),
    connections: fake<ConnectionStore>({
      putTicket: async () => undefined,
      redeemTicket: async () => ada,
      putPreview: async (_, preview) => {
        granted = preview;
      },
      preview: async () => granted,
    }),
    world: { now: () => now, uuid: () => 'u', sha256: (text) => text, sleep: async () => undefined },
    adminTokenHash: 'admin',
  };
  expect(await openPreview(ports, target, { ticket: 't' })).toEqual({
    kind: 'granted',
    principal: ada,
    secret: 'uu',
  });
  now = 4999;
  expect(await openPreview(ports, target, { grant: 'uu' })).toEqual({ kind: 'open', principal: ada });
  now = 5000;
  await expect(openPreview(ports, target, { grant: 'uu' })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});
