import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { TokenStore } from '#shared/ports/access.ts';
import type { ConnectionStore } from '#shared/ports/connections.ts';
import { fake } from '../../../tests/fake.ts';
import type { OwnerId } from '../../domain/ids.ts';
import type { Identity } from '../../domain/person.ts';
import type { Principal, Scope } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { AccessDeps } from '../deps.ts';
import { authenticate, issueTicket, stillHolds, type Ticket } from './authenticate.ts';

const project = '11111111-2222-4333-8444-555555555555';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const jwt = 'eyJh.eyJz.c2ln';
const adminToken = `sp_${'a'.repeat(64)}`;
const ownToken = `sp_${'b'.repeat(64)}`;

let now: number;
let calls: string[];
let tickets: Map<string, { principal: Principal; expiresAt: number }>;
let identities: Map<string, Identity | 'away'>;

const ports = (more: Partial<AccessDeps> = {}): AccessDeps => ({
  tokens: fake<TokenStore>({
    get: async (hash) => {
      calls.push('table');
      if (hash !== sha256(ownToken)) return undefined;
      const scope: Scope = `project:${project}`;
      return { id: 'i', hash, name: 'n', scope, masked: '***', createdAt: 0, expiresAt: 9000 };
    },
  }),
  connections: fake<ConnectionStore>({
    putTicket: async (hash, ticket) => void tickets.set(hash, ticket),
    redeemTicket: async (hash, at) => {
      const ticket = tickets.get(hash);
      tickets.delete(hash);
      return ticket !== undefined && ticket.expiresAt > at ? ticket.principal : undefined;
    },
  }),
  world: { now: () => now, uuid: () => crypto.randomUUID(), sha256, sleep: async () => undefined },
  adminTokenHash: sha256(adminToken),
  signIn: {
    issuer: {
      verify: async (token) => {
        calls.push('issuer');
        const identity = identities.get(token);
        if (identity === 'away') throw new AppError('issuer_unavailable', 'away');
        return identity;
      },
    },
    rules: { scopeClaim: 'sallyport_scope' },
  },
  ...more,
});

const ada: Identity = {
  issuer: 'https://id.example.com',
  subject: 'ada',
  expiresAt: 5000,
  scopeValue: `project:${project}`,
};
const hashOfAda = sha256('https://id.example.com\nada');
const principalOfAda = {
  owner: `person-${hashOfAda}`,
  scope: `project:${project}`,
  tokenHash: hashOfAda,
  isPerson: true,
  expiresAt: 5000,
};

beforeEach(() => {
  now = 1000;
  calls = [];
  tickets = new Map();
  identities = new Map([[jwt, ada]]);
});

const refusal = (code: string, message: string) => expect.objectContaining({ code, message });
const noToken = refusal('unauthenticated', 'a valid token is required');

describe('a Sallyport token', () => {
  test('is found by its hash, and no issuer is called', async () => {
    expect(await authenticate(ports(), { token: ownToken })).toEqual({
      owner: project,
      scope: `project:${project}`,
      tokenHash: sha256(ownToken),
      tokenId: 'i',
      name: 'n',
    });
    expect(calls).toEqual(['table']);
  });

  test('of the deployment needs no lookup, even if it looks like a JWT', async () => {
    const own = ports({ adminTokenHash: sha256(jwt) });
    expect(await authenticate(own, { token: jwt })).toMatchObject({ owner: 'deployment', scope: 'admin' });
    expect(calls).toEqual([]);
  });

  test('that is unknown is looked up in the table only', async () => {
    await expect(authenticate(ports(), { token: `sp_${'c'.repeat(64)}` })).rejects.toEqual(noToken);
    await expect(authenticate(ports(), { token: 'a.b' })).rejects.toEqual(noToken);
    await expect(authenticate(ports(), { token: 'a.b.c.d.e' })).rejects.toEqual(noToken);
    expect(calls).toEqual(['table', 'table', 'table']);
  });
});

describe('a JWT', () => {
  test('is checked by the issuer only, and is a person', async () => {
    expect(await authenticate(ports(), { token: jwt })).toEqual(principalOfAda);
    expect(calls).toEqual(['issuer']);
  });

  test('that the issuer refuses is not accepted', async () => {
    await expect(authenticate(ports(), { token: 'eyJh.eyJz.' })).rejects.toEqual(noToken);
    expect(calls).toEqual(['issuer']);
  });

  test('without a scope is known and has no permissions; the missing claim is named', async () => {
    identities.set(jwt, { ...ada, scopeValue: undefined });
    await expect(authenticate(ports(), { token: jwt })).rejects.toEqual(
      refusal('forbidden', 'the claim sallyport_scope of this sign-in is missing'),
    );
  });

  test('is not refused because the issuer is unreachable', async () => {
    identities.set(jwt, 'away');
    await expect(authenticate(ports(), { token: jwt })).rejects.toEqual(
      refusal('issuer_unavailable', 'away'),
    );
  });

  test('is not accepted without a configured issuer', async () => {
    await expect(authenticate(ports({ signIn: undefined }), { token: jwt })).rejects.toEqual(noToken);
    expect(calls).toEqual(['table']);
  });
});

describe('a ticket', () => {
  const ticketOf = async (token: string): Promise<Ticket> =>
    issueTicket(ports(), await authenticate(ports(), { token }));

  test('of a person is that person, once, without another check', async () => {
    const { ticket } = await ticketOf(jwt);
    calls = [];
    expect(await authenticate(ports(), { ticket })).toEqual(principalOfAda);
    expect(calls).toEqual([]);
    await expect(authenticate(ports(), { ticket })).rejects.toEqual(noToken);
  });

  test('of a person whose sign-in has ended is invalid', async () => {
    const { ticket } = await ticketOf(jwt);
    now = 5000;
    await expect(authenticate(ports(), { ticket })).rejects.toEqual(noToken);
  });
});

describe('a credential is valid', () => {
  const holds = (principal: Principal) => stillHolds(ports(), principal);
  const person = { ...principalOfAda, owner: 'person' as OwnerId } as Principal;

  test('of a person until it ends, without a read of the table', async () => {
    now = 4999;
    expect(await holds(person)).toBe(true);
    now = 5000;
    expect(await holds(person)).toBe(false);
    const { expiresAt: _, ...endless } = person;
    expect(await holds(endless)).toBe(false);
    expect(calls).toEqual([]);
  });

  test('of a token while it is stored and has not expired', async () => {
    const token = { owner: project as OwnerId, scope: 'admin', tokenHash: sha256(ownToken) } as const;
    now = 8999;
    expect(await holds(token)).toBe(true);
    now = 9000;
    expect(await holds(token)).toBe(false);
    expect(await holds({ ...token, tokenHash: 'revoked' })).toBe(false);
    expect(calls).toEqual(['table', 'table', 'table']);
  });
});
