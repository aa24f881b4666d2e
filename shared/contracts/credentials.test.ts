import { expect, test } from 'vitest';
import type { OwnerId } from '#shared/domain/ids.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { contextPrincipal, ticketOf, toAuthorizerContext } from './credentials.ts';
import { decode } from './decode.ts';

const program: Principal = { owner: 'deployment' as OwnerId, scope: 'admin', tokenHash: 'h' };
const person: Principal = { ...program, isPerson: true, expiresAt: 1_700_000_000_000 };

test('a principal passes API Gateway as strings and is decoded unchanged', () => {
  expect(toAuthorizerContext(person)).toEqual({
    owner: 'deployment',
    scope: 'admin',
    tokenHash: 'h',
    isPerson: 'true',
    expiresAt: '1700000000000',
  });
  for (const principal of [program, person])
    expect(decode(contextPrincipal, { ...toAuthorizerContext(principal), sessionId: 's' })).toEqual({
      ok: true,
      value: principal,
    });
});

test.each([
  { isPerson: 'false' },
  { isPerson: '' },
  { expiresAt: 'never' },
  { expiresAt: '' },
  { expiresAt: '1e99' },
])('a context with %j is refused', (more) => {
  expect(decode(contextPrincipal, { ...toAuthorizerContext(person), ...more }).ok).toBe(false);
});

test('an empty ticket in the query does not hide that of a subprotocol', () => {
  const headers = { 'Sec-WebSocket-Protocol': 'sallyport.v1, ticket.abc' };
  expect([ticketOf(headers, { ticket: '' }), ticketOf(headers, { ticket: 'q' })]).toEqual(['abc', 'q']);
});
