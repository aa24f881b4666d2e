/** Tokens, rates and the audit log against a real DynamoDB engine. */
import { createHash, randomUUID } from 'node:crypto';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeFrameBucket, makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-buckets.ts';
import { makeSignInStore } from '#shared/adapters/aws/dynamo/sign-in-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import type { AuditRow } from '#shared/domain/audit.ts';
import type { ConnectionId, OwnerId, ProjectId, SessionId } from '#shared/domain/ids.ts';
import type { AccessToken } from '#shared/domain/principal.ts';
import type { Connection } from '#shared/ports/connections.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const newToken = (createdAt: number): AccessToken => ({
  id: randomUUID(),
  hash: createHash('sha256').update(randomUUID()).digest('hex'),
  name: 'a test',
  scope: 'admin:ro',
  masked: 'sp_01234...cdef',
  createdAt,
});

describe('a token', () => {
  test('is read by its hash, and removed by its id until it is forgotten', async () => {
    const tokens = makeTokenStore(fixture.table);
    const token = { ...newToken(5), expiresAt: 4_102_444_800_000 };
    await tokens.put(token);
    expect(await tokens.get(token.hash)).toEqual(token);
    expect(await tokens.remove(token.id)).toEqual(token);
    expect(await tokens.get(token.hash)).toBeUndefined();
    expect(await tokens.remove(token.id)).toEqual(token);
    await tokens.forget(token.id);
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

describe('a sign-in of a browser', () => {
  const person = 'ab'.repeat(32);
  const signedIn = async () => {
    const signIn = {
      ...newToken(Date.now()),
      scope: 'admin',
      person,
      expiresAt: Date.now() + 60_000,
    } as const;
    await makeSignInStore(fixture.table).put(signIn);
    return signIn;
  };
  const hashesOf = async (whose: string): Promise<readonly string[]> =>
    (await makeSignInStore(fixture.table).ofPerson(whose)).map(({ hash }) => hash);
  const connectionOf = (signIn: string): Connection => ({
    id: randomUUID() as ConnectionId,
    sessionId: randomUUID() as SessionId,
    principal: {
      ...{ owner: `person-${person}` as OwnerId, scope: 'admin', tokenHash: person, isPerson: true, signIn },
      expiresAt: Date.now() + 60_000,
    },
    connectedAt: Date.now(),
  });

  test('is found like a token, by its person, in no list of tokens, and deleted', async () => {
    const [tokens, signIns] = [makeTokenStore(fixture.table), makeSignInStore(fixture.table)];
    const signIn = await signedIn();
    const other = await signedIn();
    expect(await tokens.get(signIn.hash)).toEqual(signIn);
    expect((await hashesOf(person)).toSorted()).toEqual([signIn.hash, other.hash].toSorted());
    expect(await hashesOf('another')).toEqual([]);
    expect((await tokens.list({ itemsMax: 100 })).tokens.map(({ hash }) => hash)).not.toContain(signIn.hash);
    await signIns.remove(signIn.hash);
    expect(await tokens.get(signIn.hash)).toBeUndefined();
    expect(await hashesOf(person)).toEqual([other.hash]);
  });

  test('knows the connections that it opened, and opens none after its end', async () => {
    const connections = makeConnectionStore(fixture.table);
    const { hash } = await signedIn();
    const [first, second] = [connectionOf(hash), connectionOf(hash)];
    await connections.put(first);
    await connections.put(second);
    expect((await connections.openedBy(hash)).toSorted()).toEqual([first.id, second.id].toSorted());
    await connections.remove(first.id);
    expect(await connections.openedBy(hash)).toEqual([second.id]);
    await makeSignInStore(fixture.table).remove(hash);
    const late = connectionOf(hash);
    await expect(connections.put(late)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await connections.get(late.id)).toBeUndefined();
    expect(await connections.openedBy(hash)).toEqual([second.id]);
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

  test('admits a burst and refuses the rest', async () => {
    expect(await taken('burst', at(10_000, 50))).toBe(20);
  });

  test('refills by ten a second, and never beyond the burst', async () => {
    expect(await taken('refill', [...at(10_000, 25), ...at(11_000, 25), ...at(60_000, 50)])).toBe(
      20 + 10 + 20,
    );
  });

  test('counts separately for each key, and together for concurrent callers', async () => {
    const limiter = makeRateLimiter(fixture.table, { perSecond: 10, burst: 20 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => limiter.take('together', 10_000)));
    expect(answers.filter((answer) => answer).length).toBe(20);
    expect(await limiter.take('apart', 10_000)).toBe(true);
  });
});

test('frames taken concurrently by functions are all counted, and none over the limit', async () => {
  const { take } = makeFrameBucket(fixture.table);
  const key = randomUUID();
  const options = { takenMs: 160, bucketMs: 1000, now: 10_000 };
  const answers = await Promise.all(Array.from({ length: 20 }, () => take(key, options)));
  const taken = answers.filter(({ isTaken }) => isTaken).map(({ fullAt }) => fullAt);
  expect(taken.toSorted()).toEqual([10_160, 10_320, 10_480, 10_640, 10_800, 10_960]);
  expect(await take(key, { ...options, takenMs: 60 })).toEqual({ isTaken: false, fullAt: 10_960 });
  expect(await take(key, { ...options, takenMs: 40 })).toEqual({ isTaken: true, fullAt: 11_000 });
  expect(await take(key, { ...options, takenMs: 20, now: 20_000 })).toEqual({
    isTaken: true,
    fullAt: 20_020,
  });
});

describe('audit', () => {
  const actor = { kind: 'token', id: 'abc', name: 'ci' } as const;
  const rowAt = (at: number, project?: string): AuditRow => ({
    ...{ at, actor, scope: 'admin', action: 'token.create', subject: `at ${at}`, detail: {} },
    ...(project === undefined ? {} : { project: project as ProjectId }),
  });
  const dayMs = 86_400_000;
  const now = Date.UTC(2024, 2, 15);
  const readAll = async (wanted: { project?: string; itemsMax: number }) => {
    const found: AuditRow[] = [];
    let after: string | undefined;
    do {
      const page = { ...wanted, project: wanted.project as ProjectId | undefined, now, after };
      const { rows, next } = await makeAuditLog(fixture.table).list(page);
      found.push(...rows);
      after = next;
    } while (after !== undefined);
    return found.map(({ subject }) => subject);
  };

  test('is read newest first, over months, page by page, and by project', async () => {
    const log = makeAuditLog(fixture.table);
    const rows = [0, 1, 20, 40, 200, 360].map((days) => rowAt(now - days * dayMs, days > 10 ? 'a' : 'b'));
    for (const row of rows) await log.append(row);
    const all = rows.map(({ subject }) => subject);
    for (const itemsMax of [1, 2, 100]) {
      expect(await readAll({ itemsMax })).toEqual(all);
      expect(await readAll({ itemsMax, project: 'a' })).toEqual(all.slice(2));
    }
    expect((await log.list({ now, itemsMax: 1 })).rows).toEqual(rows.slice(0, 1));
  });

  test('is retained for a year', async () => {
    await makeAuditLog(fixture.table).append(rowAt(0));
    const { Items = [] } = await fixture.table.client.send(
      new QueryCommand({
        TableName: fixture.table.name,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': 'AUDIT#1970-01' },
      }),
    );
    expect(Items).toEqual([expect.objectContaining({ ...rowAt(0), ttl: 31_622_400 })]);
  });
});
