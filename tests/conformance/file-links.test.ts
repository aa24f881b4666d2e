/** Links to files against a real DynamoDB engine: as they were made, and one write each. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeFileLinkStore } from '#shared/adapters/aws/dynamo/file-links.ts';
import type { FileLink } from '#shared/domain/file-link.ts';
import type { ProjectId, SessionId } from '#shared/domain/ids.ts';
import { projectPrincipal } from '#shared/domain/principal.ts';
import { openFileTable, sentTwice } from './table-fixture.ts';

const fixture = openFileTable();

const link: FileLink = {
  principal: { ...projectPrincipal(randomUUID() as ProjectId), tokenHash: 'f'.repeat(64), name: 'ann' },
  sessionId: randomUUID() as SessionId,
  path: 'größe/\nx',
  method: 'PUT',
  expiresAt: 4_102_444_800_000,
};

test('a link is read as it was made, and another is none', async () => {
  const links = makeFileLinkStore(fixture.table);
  await links.put('known', link);
  expect(await links.get('known')).toEqual(link);
  expect(await links.get('other')).toBeUndefined();
});

test('of many who claim its write one wins, until the claim is given back', async () => {
  const links = makeFileLinkStore(fixture.table);
  await links.put('once', link);
  const claims = await Promise.all([1, 2, 3, 4].map((now) => links.use('once', now)));
  expect(claims.filter((isWon) => isWon)).toHaveLength(1);
  expect((await links.get('once'))?.usedAt).toBeGreaterThan(0);
  await links.release('once');
  expect(await links.get('once')).toEqual(link);
  expect(await links.use('once', 5)).toBe(true);
});

test('a link that is gone is neither claimed nor given back', async () => {
  const links = makeFileLinkStore(fixture.table);
  expect(await links.use('gone', 1)).toBe(false);
  await links.release('gone');
  expect(await links.get('gone')).toBeUndefined();
});

test('a claim whose first answer was lost is won by its repeat, and by no other', async () => {
  const links = makeFileLinkStore(sentTwice(fixture.table));
  await links.put('lost', link);
  expect([await links.use('lost', 1), await links.use('lost', 2)]).toEqual([true, false]);
});
