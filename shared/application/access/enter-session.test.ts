import { expect, test } from 'vitest';
import type { TokenStore } from '#shared/ports/access.ts';
import { fake } from '../../../tests/fake.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import type { TurnRecord } from '../../domain/turn/turn.ts';
import type { TurnStore } from '../../ports/turn-store.ts';
import type { Deps } from '../deps.ts';
import { enterSession } from './enter-session.ts';

const project = '11111111-2222-4333-8444-555555555555';
const id = '22222222-2222-4333-8444-555555555555';
const ada: Principal = {
  owner: 'person-ada' as OwnerId,
  scope: `project:${project}`,
  tokenHash: 'hash-of-ada',
  isPerson: true,
  expiresAt: 5000,
};
const program: Principal = { owner: project as OwnerId, scope: `project:${project}`, tokenHash: 'known' };
const session = { id, owner: ada.owner, project: project as ProjectId } as unknown as Session;

const enter = async (principal: Principal, { now = 1000, sessionId = id } = {}) => {
  const reads: string[] = [];
  const ports: Deps<'turns' | 'tokens' | 'world' | 'adminTokenHash'> = {
    turns: fake<TurnStore>({
      getWithTurn: async (
        wanted: string,
        { tokenHash }: { readonly tokenHash?: string | undefined } = {},
      ) => {
        reads.push(tokenHash === undefined ? 'session' : 'session and token');
        if (wanted !== id) return undefined;
        const token = { id: 't', hash: 'known', name: '', scope: 'admin', masked: '', createdAt: 0 } as const;
        return { session, turn: {} as TurnRecord, ...(tokenHash === 'known' ? { token } : {}) };
      },
    }),
    tokens: fake<TokenStore>({
      get: async () => {
        reads.push('token');
        return undefined;
      },
    }),
    world: { now: () => now, uuid: () => '', sha256: () => '', sleep: async () => undefined },
    adminTokenHash: 'admin',
  };
  const outcome = await enterSession(ports, { id: sessionId, principal, intent: 'write' }).then(
    () => 'entered',
    (error: { code: string }) => error.code,
  );
  return [outcome, ...reads];
};

test('a token is read together with the session, and a revoked one is refused', async () => {
  expect(await enter(program)).toEqual(['entered', 'session and token']);
  expect(await enter({ ...program, tokenHash: 'revoked' })).toEqual(['unauthenticated', 'session and token']);
});

test('a person needs only the session to be read, and nothing once the sign-in has ended', async () => {
  expect(await enter(ada, { now: 4999 })).toEqual(['entered', 'session']);
  expect(await enter(ada, { now: 5000 })).toEqual(['unauthenticated']);
});

test('a person cannot enter a session that another person created in their project', async () => {
  expect(await enter({ ...ada, owner: 'person-bob' as OwnerId })).toEqual(['session_not_found', 'session']);
});

test('a person does not find a missing session, with one read', async () => {
  const missing = { sessionId: '33333333-2222-4333-8444-555555555555' };
  expect(await enter(ada, missing)).toEqual(['session_not_found', 'session']);
  expect(await enter({ ...program, tokenHash: 'revoked' }, missing)).toEqual([
    'unauthenticated',
    'session and token',
    'token',
  ]);
});
