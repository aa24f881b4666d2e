import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noHash, rootOf, rowHash, rowsHash, sealText } from '#shared/domain/audit-seal.ts';
import { logIn } from '../fixtures/logged-in.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('the audit log is read page by page up to the limit', async () => {
  const row = (at: string, rest: object) => ({ at, actor: 't-1', actorKind: 'token', subject: 'x', ...rest });
  const decided = row('T3', {
    actorName: 'Ann',
    action: 'approval.decide',
    detail: { approved: true, name: 'ls' },
  });
  const made = row('T2', { action: 'token.create', detail: { scope: 'admin:ro' } });
  const old = row('T1', { action: 'project.create', detail: {} });
  await using there = await logIn({
    'GET /api/audit': { body: { rows: [decided, made], next: 'n' } },
    'GET /api/audit?after=n': { body: { rows: [old] } },
    'GET /api/audit?project=p': { body: { rows: [] } },
  });
  const all = await there.run(['audit']);
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(all.stdout).toBe(
    [
      'AT  BY   ACTION           SUBJECT  DETAIL',
      'T3  Ann  approval.decide  x        approved ls',
      'T2  t-1  token.create     x        scope=admin:ro',
      'T1  t-1  project.create   x',
      '',
    ].join('\n'),
  );
  const two = await there.run(['audit', '--limit', '2', '--json']);
  expect(JSON.parse(two.stdout)).toEqual({ rows: [decided, made] });
  expect((await there.run(['audit', '--limit', '1'])).stderr).toBe(
    'More entries exist: use --limit to show them.\n',
  );
  expect((await there.run(['audit', '--project', 'p'])).stdout).toBe('No entries.\n');
});

test('a file that is not there is named', async () => {
  await using there = await logIn({});
  const { code, stderr } = await there.run(['audit', 'verify', 'nowhere.jsonl']);
  expect([code, stderr]).toEqual([
    1,
    'sallyport: the local file nowhere.jsonl cannot be read: ENOENT (file_not_found)\n',
  ]);
});

test('a line is one, whatever line ends of Unicode its texts hold', async () => {
  await using there = await logIn({});
  const at = '2026-11-21T00:00:00.000Z';
  const row = { at, subject: 'x', detail: { name: 'a\u2028b' } };
  const hash = rowHash(row, sha256);
  const lines = [
    { type: 'row', id: `${Date.parse(at)}-1`, ...row, hash },
    { type: 'end', rows: 1, seals: 0 },
  ];
  await writeFile(
    join(there.folder, 'audit.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  const { code, stdout, stderr } = await there.run(['audit', 'verify', 'audit.jsonl']);
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('1 rows, 0 seals')]);
});

/** An export of one row, made by somebody without a key, or with a key of their own. */
const forgedExport = (isSealed: boolean, key?: KeyObject): string => {
  const at = Date.parse('2026-11-21T00:00:00.000Z');
  const row = { at: new Date(at).toISOString(), subject: 'x', detail: {} };
  const hashed = rowHash(row, sha256);
  const time = { from: 0, through: at + 1, rows: 1, rowsHash: rowsHash([hashed], sha256), heads: {} };
  const body = { ...time, previous: noHash };
  const seal = { number: 1, ...body, root: rootOf(body, sha256), at: row.at };
  const signed = key && { signature: sign('sha256', Buffer.from(sealText(seal)), key).toString('base64') };
  const publicKey = key && createPublicKey(key).export({ type: 'spki', format: 'pem' });
  const lines = [
    ...(publicKey === undefined ? [] : [{ type: 'key', keyId: 'k', algorithm: 'a', publicKey }]),
    { type: 'row', id: `${at}-1`, ...row, hash: hashed },
    ...(isSealed ? [{ type: 'seal', ...seal, ...signed }] : []),
    { type: 'end', rows: 1, seals: isSealed ? 1 : 0 },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
};

test('a file that no signature binds is not said to be as it was recorded', async () => {
  await using there = await logIn({});
  const verify = async (isSealed: boolean, ...options: readonly string[]) => {
    await writeFile(join(there.folder, 'audit.jsonl'), forgedExport(isSealed));
    return there.run(['audit', 'verify', 'audit.jsonl', ...options]);
  };
  const unsigned = await verify(true);
  const [, root = ''] = /--seal: ([0-9a-f]{64})/.exec(unsigned.stdout) ?? [];
  expect([unsigned.code, unsigned.stdout]).toEqual([
    0,
    [
      '1 rows, 1 seals, 0 of them signed.',
      'The file agrees with itself. No signature binds it: anyone could have made all of it.',
      `Its last seal is 1. Keep the root, and name it later with --seal: ${root}`,
      'If the deployment signs its seals, name its key with --key: then missing signatures are problems.',
      '',
    ].join('\n'),
  ]);
  expect((await verify(false)).stdout).toContain(
    'The file agrees with itself. No seal binds its rows: anyone could have made all of it.',
  );
  expect((await verify(true, '--seal', root)).stdout).toContain(
    'Every row up to the seal of that root is as it was recorded.',
  );
});

test('a file that somebody signed with a key of their own is not said to be as it was recorded', async () => {
  await using there = await logIn({});
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(join(there.folder, 'audit.jsonl'), forgedExport(true, privateKey));
  await writeFile(join(there.folder, 'key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  const verify = async (...options: readonly string[]) =>
    (await there.run(['audit', 'verify', 'audit.jsonl', ...options])).stdout;
  expect(await verify()).toContain('Anyone could have made both.');
  expect(await verify('--key', 'key.pem')).toContain('Every row up to the last seal is as it was recorded.');
});

test('an export that breaks off leaves the one that was there', async () => {
  const route = { body: '{"type":"end"}\n', headers: { 'content-type': 'application/jsonl' } };
  await using there = await logIn({ 'GET /api/audit/export': route });
  const file = join(there.folder, 'audit.jsonl');
  expect(await there.run(['audit', 'export', 'audit.jsonl'])).toMatchObject({ code: 0 });
  await using broken = await logIn({
    'GET /api/audit/export': { ...route, headers: { 'content-length': '1000' } },
  });
  const variables = { SALLYPORT_URL: broken.fake.url };
  const cut = there.run(['audit', 'export', 'audit.jsonl'], { variables });
  await expect.poll(() => broken.fake.asked.length, { timeout: 50_000 }).toBe(1);
  await broken[Symbol.asyncDispose]();
  expect(await cut).toMatchObject({ code: 1, stderr: expect.stringContaining('(download_failed)') });
  expect([await readFile(file, 'utf8'), await readdir(there.folder)]).toEqual([route.body, ['audit.jsonl']]);
});
