import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import type { SessionId } from '../../domain/ids.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { throttle } from '../access/throttle.ts';
import type { AccessDeps, Deps } from '../deps.ts';
import { openFileLink } from './file-links.ts';

const maker: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'the first token' };
const session = { id: crypto.randomUUID() as SessionId, owner: deploymentOwner } as Session;
const burst = 20;

/** Buckets that nothing fills again. */
const opened = () => {
  const taken = new Map<string, number>();
  const link = { principal: maker, sessionId: session.id, path: 'a', method: 'GET', expiresAt: 2 } as const;
  return {
    adminTokenHash: maker.tokenHash,
    world: { now: () => 1, sha256: (text: string) => text, uuid: () => crypto.randomUUID() },
    fileLinks: fake<Deps<'fileLinks'>['fileLinks']>({ get: async () => link }),
    turns: fake<Deps<'turns'>['turns']>({ getWithTurn: async () => ({ session }) as never }),
    rateLimiter: fake<Deps<'rateLimiter'>['rateLimiter']>({
      take: async (key: string) => {
        taken.set(key, (taken.get(key) ?? 0) + 1);
        return (taken.get(key) ?? 0) <= burst;
      },
    }),
  } as unknown as AccessDeps & Deps<'fileLinks' | 'rateLimiter' | 'turns'>;
};

test('AC9: a flood of requests by links is refused, and their maker is served', async () => {
  const ports = opened();
  const ask = (secret: string) => openFileLink(ports, { secret, method: 'GET' });
  const answers = await Promise.allSettled(
    Array.from({ length: 3 * burst }, (_, index) => ask(`link ${index % 2}`)),
  );
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(burst);
  await expect(ask('link 0')).rejects.toMatchObject({
    code: 'rate_limited',
    message: 'too many requests by the links of this token',
  });
  await throttle(ports, maker);
});
