import { expect, test } from 'vitest';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { bearerHashOf, bearerOf } from './sandbox-bearer.ts';

const secret = '0123456789abcdef0123456789abcdef';
const workspaceId = '6f1d2c3b-0000-4000-8000-000000000001' as WorkspaceId;

// Computed with openssl dgst and sha256sum.
test('the bearer is the HMAC of workspace and generation, and its hash is what a sandbox gets', () => {
  expect(bearerOf(secret, workspaceId, 7)).toBe(
    'aeb7ec6cb53d70988603c712e9c2eed04e6398c5317ca5b4f2912520a35c712d',
  );
  expect(bearerHashOf(secret, workspaceId, 7)).toBe(
    'e7252f7051c62a7c8b9d525541fa071d92f35f865636cebeb1eb8e44d2a6113f',
  );
});

test('another generation, workspace or secret has another bearer', () => {
  const other = '6f1d2c3b-0000-4000-8000-000000000002' as WorkspaceId;
  const bearers = [
    bearerOf(secret, workspaceId, 7),
    bearerOf(secret, workspaceId, 8),
    bearerOf(secret, other, 7),
    bearerOf(`${secret}!`, workspaceId, 7),
  ];
  expect(new Set(bearers).size).toBe(4);
});
