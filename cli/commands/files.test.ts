import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const modifiedAt = '2026-01-01T00:00:00.000Z';
const file = { name: 'a', path: 'a', type: 'file', size: 1, modifiedAt };

test('a list with fewer entries than its folder says so, also as JSON', async () => {
  await using there = await logIn({
    'GET /api/sessions/s/files?path=.': { body: { files: [file], truncated: true } },
    'GET /api/sessions/s/files?path=.&recursive=1': { body: { files: [file], truncated: true } },
  });
  const flat = await there.run(['files', 'ls', 's']);
  expect(flat.stderr).toBe(
    'Only the first 1 entries are shown: `sallyport files get -r` downloads the whole folder.\n',
  );
  expect((await there.run(['files', 'ls', 's', '-R'])).stderr).toBe(
    'Only the first 1 entries are shown: list a folder below it.\n',
  );
  expect(JSON.parse((await there.run(['files', 'ls', 's', '--json'])).stdout)).toEqual({
    files: [file],
    truncated: true,
  });
});
