/** Tokens, rates and the audit log against a real DynamoDB engine. */
import { createHash, randomUUID } from 'node:crypto';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-limiter.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import type { AccessToken } from '#shared/domain/token.ts';
import { openTableFixture, type TableFixture } from './table-fixture.ts';

let fixture: TableFixture;
beforeAll(async () => {
  fixture = await openTableFixture();
});
afterAll(() => fixture.close());

const newToken = (createdAt: number): AccessToken => ({
  id: randomUUID(),
  hash: createHash('sha256').update(randomUUID()).digest('hex'),
  name: 'a test',
  scope: 'admin:ro',
  masked: 'sp_01234...cdef',
  createdAt,
});

describe('a token', () => {
  test('is read by its hash and removed by its id, once', async () => {
    const tokens = makeTokenStore(fixture.table);
    const token = { ...newToken(5), expiresAt: 4_102_444_800_000 };
    await tokens.put(token);
    expect(await tokens.get(token.hash)).toEqual(token);
    expect(await tokens.remove(token.id)).toEqual(token);
    expect(await tokens.get(token.hash)).toBeUndefined();
    expect(await tokens.remove(token.id)).toBeUndefined();
  });

  test('is listed newest first, in pages', async () => {
    const tokens = makeTokenStore(fixture.table);
    const made = [newToken(1000), newToken(2000), newToken(3000)];
    for (const token of made) await tokens.put(token);
    const first = await tokens.list({ itemsMax: 2 });
    const second = await tokens.list({ itemsMax: 2, after: first.next ?? '' });
    expect([...first.tokens, ...second.tokens].map(({ createdAt }) => createdAt)).toEqual([3000, 2000, 1000]);
  });
});

describe('a rate of ten a second with a burst of twenty', () => {
  const taken = async (key: string, moments: readonly number[]): Promise<number> => {
    const limiter = makeRateLimiter(fixture.table, { perSecond: 10, burst: 20 });
    const answers: boolean[] = [];
    for (const now of moments) answers.push(await limiter.take(key, now));
    return answers.filter((answer) => answer).length;
  };
  const at = (now: number, count: number): number[] => Array.from({ length: count }, () => now);

  test('lets a burst through and refuses the rest', async () => {
    expect(await taken('burst', at(10_000, 50))).toBe(20);
  });

  test('refills by ten a second, and never beyond the burst', async () => {
    expect(await taken('refill', [...at(10_000, 25), ...at(11_000, 25), ...at(60_000, 50)])).toBe(
      20 + 10 + 20,
    );
  });

  test('counts for each key apart, and for callers at once together', async () => {
    const limiter = makeRateLimiter(fixture.table, { perSecond: 10, burst: 20 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => limiter.take('together', 10_000)));
    expect(answers.filter((answer) => answer).length).toBe(20);
    expect(await limiter.take('apart', 10_000)).toBe(true);
  });
});

test('an audit row stands in the partition of its day', async () => {
  const row = { at: 0, actor: 'abc', scope: 'admin', operation: 'token.create', target: 'x' };
  await makeAuditLog(fixture.table).append(row);
  const { Items = [] } = await fixture.table.client.send(
    new QueryCommand({
      TableName: fixture.table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'AUDIT#1970-01-01' },
    }),
  );
  expect(Items).toEqual([expect.objectContaining({ ...row, ttl: 31_622_400 })]);
});
