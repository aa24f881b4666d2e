/** Records on disk, under a loss of power. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { onSync } from '../../tests/on-sync.ts';
import { openRecordFiles } from './record-files.ts';

test('a record and its name, or their removal, are on the disk before the caller learns of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'records-'));
  const files = await openRecordFiles<{ readonly text: string }>(folder);
  const synced: string[] = [];
  await onSync(dirname(folder), async (path) => void synced.push(path.replace(/^records-[^/]*/, 'records')));
  await files.write('key', { text: 'kept' });
  expect(synced).toEqual(['records/*', 'records']);
  await files.remove('key');
  expect(synced).toEqual(['records/*', 'records', 'records']);
});
